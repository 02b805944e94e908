/* SPDX-FileCopyrightText: 2026 The Linnet contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * GStreamer's own ends of its network clock.
 *
 * gst-clock client PORT READER   follows the clock at 127.0.0.1:PORT and tells by how many nanoseconds it is ahead of this
 *                                machine's monotonic clock; fails after 20 s without an answer
 * gst-clock provider READER      provides this machine's monotonic clock until it is killed, and tells its port
 *
 * What is told is a number in a message to 127.0.0.1:READER.
 */
#include <gst/gst.h>
#include <gst/net/gstnet.h>
#include <arpa/inet.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

static int tell(int reader, int64_t number)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%" PRId64, number);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)reader)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int out = socket(AF_INET, SOCK_DGRAM, 0);
    return sendto(out, text, (size_t)length, 0, (struct sockaddr *)&to, sizeof to) == length ? 0 : 1;
}

static int client(int port, int reader)
{
    GstClock *clock = gst_net_client_clock_new("followed", "127.0.0.1", port, 0);
    GstClock *own = gst_system_clock_obtain();
    if (!gst_clock_wait_for_sync(clock, 20 * GST_SECOND))
        return 1;
    return tell(reader, (int64_t)(gst_clock_get_time(clock) - gst_clock_get_time(own)));
}

static int provider(int reader)
{
    GstNetTimeProvider *provider = gst_net_time_provider_new(gst_system_clock_obtain(), "127.0.0.1", 0);
    int port = 0;
    if (!provider)
        return 1;
    g_object_get(provider, "port", &port, NULL);
    if (tell(reader, port))
        return 1;
    g_main_loop_run(g_main_loop_new(NULL, FALSE));
    return 0;
}

int main(int count, char **words)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    gst_init(NULL, NULL);
    if (count == 4 && !strcmp(words[1], "client"))
        return client(atoi(words[2]), atoi(words[3]));
    if (count == 3 && !strcmp(words[1], "provider"))
        return provider(atoi(words[2]));
    return 2;
}
