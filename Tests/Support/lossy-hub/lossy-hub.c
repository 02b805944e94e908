/* SPDX-FileCopyrightText: 2026 The Linnet contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Network namespaces on one network that delays each frame at random, keeps the order on each way, and loses some.
 *
 * lossy-hub NAMESPACE=ADDRESS... -- DELAY-MS JITTER-MS LOSS
 *
 * Makes the namespaces, of which the first is at the hub itself: the way of a frame is delayed once for each other one
 * that it leaves or comes to. Prints "ready". At most 4096 frames are under way; more are lost. Takes the namespaces
 * down at SIGTERM, or when its parent ends. Needs root and iproute2.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define ENDS 72
#define STATIONS 256
#define LIMIT 4096

struct frame {
    int64_t due;
    int end;
    ssize_t length;
    unsigned char bytes[2048];
};

static struct frame *waiting[LIMIT];
static int count;
static volatile sig_atomic_t ends;

static void stop(int number)
{
    (void)number;
    ends = 1;
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

__attribute__((format(printf, 1, 2))) static void shell(const char *format, ...)
{
    char command[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    if (system(command) != 0)
        fprintf(stderr, "lossy-hub: failed: %s\n", command);
}

static int open_end(int number, const char *name, const char *address)
{
    struct ifreq request = {0};
    char device[IFNAMSIZ];
    snprintf(device, sizeof device, "hub%dx%d", (int)getpid() % 100000, number);
    shell("ip netns delete %s 2>/dev/null; ip netns add %s", name, name);
    int end = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    memcpy(request.ifr_name, device, sizeof device);
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    if (end < 0 || ioctl(end, TUNSETIFF, &request) < 0)
        return -1;
    shell("ip link set %s netns %s name eth0 && ip -n %s link set lo up && ip -n %s addr add %s/24 dev eth0 brd + && "
          "ip -n %s link set eth0 up && ip -n %s route add 224.0.0.0/4 dev eth0",
          device, name, name, name, address, name, name);
    return end;
}

static void deliver(const int *end)
{
    int64_t time = now();
    int kept = 0;
    for (int index = 0; index < count; index++) {
        struct frame *frame = waiting[index];
        if (frame->due > time) {
            waiting[kept++] = frame;
            continue;
        }
        /* An end that takes nothing loses it, as a network does. */
        if (write(end[frame->end], frame->bytes, (size_t)frame->length) < 0) { }
        free(frame);
    }
    count = kept;
}

int main(int argc, char **argv)
{
    static unsigned char station[STATIONS][6];
    static int64_t last[ENDS][ENDS];
    int home[STATIONS], stations = 0, end[ENDS], total = 0;
    char name[ENDS][32];
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGTERM, stop);
    signal(SIGINT, stop);
    while (total < ENDS && 1 + total < argc && strcmp(argv[1 + total], "--") != 0) {
        char address[32];
        if (sscanf(argv[1 + total], "%31[^=]=%31s", name[total], address) != 2)
            break;
        end[total] = open_end(total, name[total], address);
        if (end[total++] < 0)
            break;
    }
    if (total < 2 || end[total - 1] < 0 || argc != total + 5 || strcmp(argv[1 + total], "--") != 0) {
        fprintf(stderr, "usage: lossy-hub NAMESPACE=ADDRESS... -- DELAY-MS JITTER-MS LOSS\n");
        for (int index = 0; index < total; index++)
            shell("ip netns delete %s", name[index]);
        return 2;
    }
    double delay = atof(argv[total + 2]) * 1e6, jitter = atof(argv[total + 3]) * 1e6, loss = atof(argv[total + 4]);
    printf("ready\n");
    fflush(stdout);
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 20});
    struct pollfd watched[ENDS];
    for (int index = 0; index < total; index++)
        watched[index] = (struct pollfd){.fd = end[index], .events = POLLIN};
    while (!ends) {
        deliver(end);
        int64_t next = now() + 100000000;
        for (int index = 0; index < count; index++)
            if (waiting[index]->due < next)
                next = waiting[index]->due;
        int64_t rest = next - now();
        struct timespec wait = {.tv_nsec = rest > 0 ? rest : 0};
        if (ppoll(watched, (nfds_t)total, &wait, NULL) <= 0)
            continue;
        for (int from = 0; from < total; from++) {
            unsigned char bytes[2048];
            ssize_t length;
            while ((length = read(end[from], bytes, sizeof bytes)) >= 14) {
                int known = 0, only = -1;
                while (known < stations && memcmp(station[known], bytes + 6, 6) != 0)
                    known++;
                if (known < STATIONS) {
                    memcpy(station[known], bytes + 6, 6);
                    home[known] = from;
                    if (known == stations)
                        stations++;
                }
                for (int index = 0; index < stations && !(bytes[0] & 1); index++)
                    if (memcmp(station[index], bytes, 6) == 0)
                        only = home[index];
                for (int to = 0; to < total; to++) {
                    if (to == from || (only >= 0 && to != only))
                        continue;
                    double late = 0;
                    int legs = (from > 0) + (to > 0);
                    for (int leg = 0; leg < legs; leg++)
                        late += delay + (2 * drand48() - 1) * jitter;
                    if (drand48() < loss * legs || count >= LIMIT)
                        continue;
                    struct frame *frame = malloc(sizeof *frame);
                    if (frame == NULL)
                        continue;
                    frame->due = now() + (int64_t)late;
                    if (frame->due < last[from][to])
                        frame->due = last[from][to];
                    last[from][to] = frame->due;
                    frame->end = to;
                    frame->length = length;
                    memcpy(frame->bytes, bytes, (size_t)length);
                    waiting[count++] = frame;
                }
            }
        }
    }
    for (int index = 0; index < total; index++)
        shell("ip netns delete %s", name[index]);
    return 0;
}
