// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0
//
// Moves within an adaptive stream at random moments, with nothing but GStreamer's own elements, to see whether the
// GStreamer of a machine lives through that (Docs/decisions/0012). The faults are races: keep the machine busy.
// usage: move-check URL MOVES [SEED [DELAY]]     prints how many moves were made; ends by a signal if the fault is met
//
// Loads the stream anew after each 200 moves, which are up to 30 ms apart. DELAY is how long, in microseconds, the
// thread that sends requests is held back before each of them.

#include <gst/gst.h>
#include <libsoup/soup.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOVES_OF_LOAD = 200, PAUSE = 30000, LENGTH = 27000 };

static gulong delay;

static gboolean hold_back(GSignalInvocationHint *hint, guint count, const GValue *values, gpointer data)
{
    (void)hint, (void)count, (void)values, (void)data;
    if (delay > 0)
        g_usleep(delay);
    return TRUE;
}

static void link_pad(GstElement *head, GstPad *pad, gpointer next)
{
    (void)head;
    GstPad *sink = gst_element_get_static_pad(next, "sink");
    if (!gst_pad_is_linked(sink))
        gst_pad_link(pad, sink);
    gst_object_unref(sink);
}

static GstElement *play(const char *uri, GstElement **end)
{
    GstElement *pipeline = gst_pipeline_new(NULL);
    GstElement *head = gst_element_factory_make("uridecodebin3", NULL);
    GstElement *convert = gst_element_factory_make("audioconvert", NULL);
    GstElement *sink = gst_element_factory_make("fakesink", NULL);
    if (!head || !convert || !sink) {
        fprintf(stderr, "move-check: elements are missing\n");
        exit(2);
    }
    GstCaps *caps = gst_caps_from_string("audio/x-raw(ANY)");
    g_object_set(head, "uri", uri, "caps", caps, NULL);
    gst_caps_unref(caps);
    g_object_set(sink, "sync", TRUE, NULL);
    g_signal_connect(head, "pad-added", G_CALLBACK(link_pad), convert);
    gst_bin_add_many(GST_BIN(pipeline), head, convert, sink, NULL);
    gst_element_link(convert, sink);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    gst_element_get_state(pipeline, NULL, NULL, 5 * GST_SECOND);
    *end = sink;
    return pipeline;
}

int main(int count, char **words)
{
    gst_init(&count, &words);
    if (count < 3) {
        fprintf(stderr, "usage: move-check URL MOVES [SEED [DELAY]]\n");
        return 2;
    }
    int moves = atoi(words[2]), made = 0;
    GRand *random = g_rand_new_with_seed(count > 3 ? (guint32)atoi(words[3]) : 1);
    delay = count > 4 ? strtoul(words[4], NULL, 10) : 0;
    g_type_class_ref(SOUP_TYPE_MESSAGE);
    g_signal_add_emission_hook(g_signal_lookup("starting", SOUP_TYPE_MESSAGE), 0, hold_back, NULL, NULL);
    while (made < moves) {
        GstElement *sink, *pipeline = play(words[1], &sink);
        for (int one = 0; one < MOVES_OF_LOAD && made < moves; one++, made++) {
            g_usleep((gulong)g_rand_int_range(random, 0, PAUSE));
            gint64 place = g_rand_int_range(random, 0, LENGTH) * (gint64)GST_MSECOND;
            gst_element_seek_simple(sink, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, place);
            // Each time, since the next one may be the last.
            printf("\r%d", made + 1);
            fflush(stdout);
        }
        gst_element_set_state(pipeline, GST_STATE_NULL);
        gst_object_unref(pipeline);
    }
    printf("\rmove-check: %d moves\n", made);
    g_rand_free(random);
    return 0;
}
