/* SPDX-FileCopyrightText: 2026 The Linnet contributors */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LINNET_CINPUT_H
#define LINNET_CINPUT_H
#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <linux/input.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Functions with variable arguments, and macros of requests, do not import into Swift. */
static inline int input_shim_open(const char *path) { return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); }
static inline int input_shim_name(int device, char *name, int room) { return ioctl(device, EVIOCGNAME(room), name); }
static inline int input_shim_kinds(int device, unsigned char *bits, int room)
{
    return ioctl(device, EVIOCGBIT(0, room), bits);
}
static inline int input_shim_codes(int device, int kind, unsigned char *bits, int room)
{
    return ioctl(device, EVIOCGBIT(kind, room), bits);
}
static inline int input_shim_switches(int device, unsigned char *bits, int room)
{
    return ioctl(device, EVIOCGSW(room), bits);
}
static inline int input_shim_keys(int device, unsigned char *bits, int room)
{
    return ioctl(device, EVIOCGKEY(room), bits);
}

enum { INPUT_SHIM_SWITCHES = SW_MAX + 1, INPUT_SHIM_KEYS = KEY_MAX + 1 };
#endif
