// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0
//
// What hostile code inside the renderer would try, tried in the one place where tests have code in it: the simulated
// card. PATH.attack holds one attempt a line; each gets a line in PATH.attacked: the attempt, a colon, and "done" or
// the reason why not. The format of the lines is in README.md beside this file.

#pragma once

#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

// Each answers 0, or sets errno.

static int attempt_read(const char *path)
{
    char byte;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    int status = read(file, &byte, 1) < 0 ? -1 : 0;
    close(file);
    return status;
}

static int attempt_list(const char *path)
{
    DIR *folder = opendir(path);
    return folder == NULL ? -1 : closedir(folder);
}

static int attempt_write(const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        return -1;
    int status = write(file, "x", 1) == 1 ? 0 : -1;
    close(file);
    return status;
}

static int attempt_start(const char *path)
{
    int child = fork();
    if (child < 0)
        return -1;
    if (child == 0) {
        execl(path, path, (char *)NULL);
        _exit(127);
    }
    waitpid(child, NULL, 0);
    return 0;
}

// Only returns if it is refused.
static int attempt_become(const char *path) { return execl(path, path, (char *)NULL); }

static int attempt_socket(int family, int type)
{
    int file = socket(family, type, 0);
    return file < 0 ? -1 : close(file);
}

// A local socket without a file.
static int attempt_abstract(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strnlen(name, sizeof address.sun_path - 1);
    memcpy(address.sun_path + 1, name, length);
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0)
        return -1;
    int status = connect(file, (struct sockaddr *)&address,
                         (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length));
    int reason = errno;
    close(file);
    errno = reason;
    return status;
}

static int attempt_listen(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0)
        return -1;
    int status = bind(file, (struct sockaddr *)&address, sizeof address);
    int reason = errno;
    close(file);
    errno = reason;
    return status;
}

// Takes so many MiB and uses them; keeps what it got.
static int attempt_allocate(long mebibytes)
{
    for (long n = 0; n < mebibytes; n++) {
        char *piece = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (piece == MAP_FAILED)
            return -1;
        memset(piece, 1, 1 << 20);
    }
    return 0;
}

static int attempt(const char *what, const char *argument)
{
    if (!strcmp(what, "read"))
        return attempt_read(argument);
    if (!strcmp(what, "list"))
        return attempt_list(argument);
    if (!strcmp(what, "write"))
        return attempt_write(argument);
    if (!strcmp(what, "remove"))
        return unlink(argument);
    if (!strcmp(what, "start"))
        return attempt_start(argument);
    if (!strcmp(what, "become"))
        return attempt_become(argument);
    if (!strcmp(what, "raw"))
        return attempt_socket(AF_INET, SOCK_RAW);
    if (!strcmp(what, "packet"))
        return attempt_socket(AF_PACKET, SOCK_DGRAM);
    if (!strcmp(what, "tcp"))
        return attempt_socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (!strcmp(what, "udp"))
        return attempt_socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC);
    if (!strcmp(what, "links"))
        return attempt_socket(AF_NETLINK, SOCK_RAW);
    if (!strcmp(what, "abstract"))
        return attempt_abstract(argument);
    if (!strcmp(what, "listen"))
        return attempt_listen();
    if (!strcmp(what, "trace"))
        return ptrace(PTRACE_SEIZE, atoi(argument), NULL, NULL) < 0 ? -1 : 0;
    if (!strcmp(what, "signal"))
        return kill(atoi(argument), 0);
    if (!strcmp(what, "allocate"))
        return attempt_allocate(atol(argument));
    errno = EINVAL;
    return -1;
}

// Makes the attempts of PATH.attack, once.
static void intrude(const char *path)
{
    char orders[576], reports[576], finished[576], line[512];
    snprintf(orders, sizeof orders, "%s.attack", path);
    snprintf(reports, sizeof reports, "%s.attacking", path);
    snprintf(finished, sizeof finished, "%s.attacked", path);
    FILE *input = fopen(orders, "re");
    if (input == NULL)
        return;
    unlink(orders);
    FILE *output = fopen(reports, "we");
    while (output != NULL && fgets(line, sizeof line, input) != NULL) {
        line[strcspn(line, "\n")] = 0;
        char what[512];
        snprintf(what, sizeof what, "%s", line);
        char *blank = strchr(what, ' ');
        if (blank != NULL)
            *blank = 0;
        int status = attempt(what, blank != NULL ? blank + 1 : "");
        fprintf(output, "%s: %s\n", line, status == 0 ? "done" : strerror(errno));
        fflush(output);
    }
    fclose(input);
    if (output != NULL)
        fclose(output);
    rename(reports, finished);
}

// Samples that no other test medium has so many of in a row: whoever plays them through this card, crashes.
enum { POISON = 0x7abc, POISON_LENGTH = 64 };

static void crash_if_poisoned(const int16_t *samples, size_t count)
{
    size_t run = 0;
    for (size_t n = 0; n < count; n++) {
        run = samples[n] == POISON ? run + 1 : 0;
        if (run == POISON_LENGTH)
            raise(SIGSEGV);
    }
}
