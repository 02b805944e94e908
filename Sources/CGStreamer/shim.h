/* SPDX-FileCopyrightText: 2026 The Linnet contributors
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gst/gst.h>
#include <gst/app/gstappsink.h>
#include <gst/audio/audio.h>
#include <gst/pbutils/pbutils.h>
#include <malloc.h>

/* Macros and casts do not import into Swift. */
static inline GstBuffer *gst_shim_probe_buffer(GstPadProbeInfo *info) { return GST_PAD_PROBE_INFO_BUFFER(info); }
static inline GstEvent *gst_shim_probe_event(GstPadProbeInfo *info) { return GST_PAD_PROBE_INFO_EVENT(info); }
static inline GstEventType gst_shim_event_type(GstEvent *event) { return GST_EVENT_TYPE(event); }
static inline guint32 gst_shim_event_seqnum(GstEvent *event) { return gst_event_get_seqnum(event); }
static inline GstMessageType gst_shim_message_type(GstMessage *message) { return GST_MESSAGE_TYPE(message); }
static inline GstObject *gst_shim_message_source(GstMessage *message) { return GST_MESSAGE_SRC(message); }
static inline GstClockTime gst_shim_buffer_pts(GstBuffer *buffer) { return GST_BUFFER_PTS(buffer); }
static inline gboolean gst_shim_buffer_is_discontinuity(GstBuffer *buffer) { return GST_BUFFER_IS_DISCONT(buffer); }
static inline GstElement *gst_shim_element(gpointer object) { return GST_ELEMENT(object); }
static inline GstObject *gst_shim_object(gpointer object) { return GST_OBJECT(object); }
static inline GstBin *gst_shim_bin(gpointer object) { return GST_BIN(object); }
static inline GstPad *gst_shim_pad(gpointer object) { return GST_PAD(object); }
static inline GstAppSink *gst_shim_app_sink(gpointer object) { return GST_APP_SINK(object); }
static inline GstStream *gst_shim_stream(gpointer object) { return GST_STREAM(object); }
static inline GstStreamCollection *gst_shim_collection(gpointer object) { return GST_STREAM_COLLECTION(object); }
static inline gboolean gst_shim_is_bin(gpointer object) { return GST_IS_BIN(object); }
static inline gboolean gst_shim_is_pipeline(gpointer object) { return GST_IS_PIPELINE(object); }
static inline GType gst_shim_type_sample(void) { return GST_TYPE_SAMPLE; }
static inline GType gst_shim_type_structure(void) { return GST_TYPE_STRUCTURE; }
static inline GType gst_shim_type_string(void) { return G_TYPE_STRING; }
static inline GType gst_shim_type_int(void) { return G_TYPE_INT; }
static inline GType gst_shim_type_uint(void) { return G_TYPE_UINT; }
static inline guint64 gst_shim_no_time(void) { return GST_CLOCK_TIME_NONE; }
