/* SPDX-FileCopyrightText: 2026 The Linnet contributors
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <alsa/asoundlib.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* alsa-lib's error handler takes variable arguments, which Swift cannot write. */
static void alsa_shim_ignore(const char *file, int line, const char *function, int code, const char *format, ...)
{
    (void)file;
    (void)line;
    (void)function;
    (void)code;
    (void)format;
}
static inline void alsa_shim_silence(void) { snd_lib_error_set_handler(alsa_shim_ignore); }

/* A macro in the C library. */
static inline int alsa_shim_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

/* Takes variable arguments in the C library. */
static inline int alsa_shim_duplicate(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 3); }

/* Takes variable arguments in the C library. */
static inline void alsa_shim_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

/* Declared by the C library only for programs of GNU. */
int ppoll(struct pollfd *entries, nfds_t count, const struct timespec *timeout, const sigset_t *signals);
