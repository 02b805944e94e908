/* SPDX-FileCopyrightText: 2026 The Linnet contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A network between one client and one server of UDP that delays each message at random and loses some.
 *
 * lossy-relay SERVER-PORT READER-PORT LEAST-MS MOST-MS LOSS
 *
 * All at 127.0.0.1. Tells the port that the client has to use in a message to READER-PORT. At most 1024 messages are
 * under way; more are lost. Runs until it is killed.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

#define LIMIT 1024

struct message {
    int64_t due;
    int to_server;
    size_t length;
    unsigned char bytes[256];
};

static struct message waiting[LIMIT];
static int count;

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static struct sockaddr_in loopback(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

int main(int words, char **word)
{
    if (words != 6)
        return 2;
    double least = atof(word[3]) * 1e6, most = atof(word[4]) * 1e6, loss = atof(word[5]);
    struct sockaddr_in server = loopback(atoi(word[1])), reader = loopback(atoi(word[2]));
    struct sockaddr_in own = loopback(0), client = {0};
    socklen_t size = sizeof own;
    int front = socket(AF_INET, SOCK_DGRAM, 0), back = socket(AF_INET, SOCK_DGRAM, 0);
    int64_t last[2] = {0, 0};

    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (bind(front, (struct sockaddr *)&own, size) || getsockname(front, (struct sockaddr *)&own, &size)
        || connect(back, (struct sockaddr *)&server, sizeof server))
        return 1;
    char text[16];
    size_t length = (size_t)snprintf(text, sizeof text, "%d", ntohs(own.sin_port));
    sendto(front, text, length, 0, (struct sockaddr *)&reader, sizeof reader);

    struct pollfd ends[2] = {{front, POLLIN, 0}, {back, POLLIN, 0}};
    for (;;) {
        int64_t time = now(), next = time + INT64_C(1000000000);
        for (int i = 0; i < count;) {
            struct message *message = &waiting[i];
            if (message->due > time) {
                if (message->due < next)
                    next = message->due;
                i++;
                continue;
            }
            if (message->to_server)
                send(back, message->bytes, message->length, MSG_DONTWAIT);
            else
                sendto(front, message->bytes, message->length, MSG_DONTWAIT, (struct sockaddr *)&client, sizeof client);
            memmove(message, message + 1, (size_t)(--count - i) * sizeof *message);
        }
        struct timespec rest = {0, next - time < 999999999 ? next - time : 999999999};
        if (ppoll(ends, 2, &rest, NULL) <= 0)
            continue;
        for (int end = 0; end < 2; end++) {
            unsigned char bytes[256];
            size = sizeof client;
            ssize_t got;
            while ((got = end == 0 ? recvfrom(front, bytes, sizeof bytes, MSG_DONTWAIT, (struct sockaddr *)&client, &size)
                                   : recv(back, bytes, sizeof bytes, MSG_DONTWAIT)) >= 0) {
                if (count == LIMIT || drand48() < loss)
                    continue;
                struct message *message = &waiting[count++];
                message->due = now() + (int64_t)(least + drand48() * (most - least));
                if (message->due < last[end])
                    message->due = last[end];
                last[end] = message->due;
                message->to_server = end == 0;
                message->length = (size_t)got;
                memcpy(message->bytes, bytes, (size_t)got);
            }
        }
    }
}
