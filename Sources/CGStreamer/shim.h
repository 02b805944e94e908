/* SPDX-FileCopyrightText: 2026 The Linnet contributors
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gst/gst.h>
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/audio/audio.h>
#include <gst/base/gstbasesrc.h>
#include <gst/pbutils/pbutils.h>
#include <gst/tag/tag.h>
#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

/* Macros and casts do not import into Swift. */
static inline GstBuffer *gst_shim_probe_buffer(GstPadProbeInfo *info) { return GST_PAD_PROBE_INFO_BUFFER(info); }
static inline GstEvent *gst_shim_probe_event(GstPadProbeInfo *info) { return GST_PAD_PROBE_INFO_EVENT(info); }
static inline guint gst_shim_probe_type(GstPadProbeInfo *info) { return GST_PAD_PROBE_INFO_TYPE(info); }
/* True while a thread brings something into the pad. */
static inline gboolean gst_shim_pad_takes(GstPad *pad)
{
    if (!GST_PAD_STREAM_TRYLOCK(pad))
        return TRUE;
    GST_PAD_STREAM_UNLOCK(pad);
    return FALSE;
}

static inline GstQuery *gst_shim_probe_query(GstPadProbeInfo *info) { return GST_PAD_PROBE_INFO_QUERY(info); }
static inline GstEventType gst_shim_event_type(GstEvent *event) { return GST_EVENT_TYPE(event); }
static inline guint32 gst_shim_event_seqnum(GstEvent *event) { return gst_event_get_seqnum(event); }
static inline GstMessageType gst_shim_message_type(GstMessage *message) { return GST_MESSAGE_TYPE(message); }
static inline GstObject *gst_shim_message_source(GstMessage *message) { return GST_MESSAGE_SRC(message); }
static inline GstClockTime gst_shim_buffer_pts(GstBuffer *buffer) { return GST_BUFFER_PTS(buffer); }
static inline GstClockTime gst_shim_buffer_dts(GstBuffer *buffer) { return GST_BUFFER_DTS(buffer); }
static inline void gst_shim_set_buffer_dts(GstBuffer *buffer, GstClockTime time) { GST_BUFFER_DTS(buffer) = time; }
static inline gboolean gst_shim_buffer_is_clipped(GstBuffer *buffer) { return gst_buffer_get_audio_clipping_meta(buffer) != NULL; }
static inline GstClockTime gst_shim_buffer_duration(GstBuffer *buffer) { return GST_BUFFER_DURATION(buffer); }
static inline void gst_shim_set_buffer_duration(GstBuffer *buffer, GstClockTime time) { GST_BUFFER_DURATION(buffer) = time; }
static inline void gst_shim_set_buffer_pts(GstBuffer *buffer, GstClockTime time) { GST_BUFFER_PTS(buffer) = time; }
static inline gboolean gst_shim_buffer_is_discontinuity(GstBuffer *buffer) { return GST_BUFFER_IS_DISCONT(buffer); }
static inline GstElement *gst_shim_element(gpointer object) { return GST_ELEMENT(object); }
static inline GstObject *gst_shim_object(gpointer object) { return GST_OBJECT(object); }
static inline GstBin *gst_shim_bin(gpointer object) { return GST_BIN(object); }
static inline GstPad *gst_shim_pad(gpointer object) { return GST_PAD(object); }
static inline GstAppSink *gst_shim_app_sink(gpointer object) { return GST_APP_SINK(object); }
static inline GstAppSrc *gst_shim_app_source(gpointer object) { return GST_APP_SRC(object); }
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
static inline GType gst_shim_type_image_kind(void) { return GST_TYPE_TAG_IMAGE_TYPE; }
static inline gint gst_shim_front_cover(void) { return GST_TAG_IMAGE_TYPE_FRONT_COVER; }
static inline const gchar *gst_shim_factory_name(GstElement *element)
{
    GstElementFactory *factory = gst_element_get_factory(element);
    return factory ? gst_plugin_feature_get_name(GST_PLUGIN_FEATURE(factory)) : NULL;
}
static inline gboolean gst_shim_get_mask(const GstStructure *structure, const gchar *name, guint64 *mask)
{
    return gst_structure_get(structure, name, GST_TYPE_BITMASK, mask, NULL);
}
static inline void gst_shim_set_mask(GstCaps *caps, const gchar *name, guint64 mask)
{
    gst_caps_set_simple(caps, name, GST_TYPE_BITMASK, mask, NULL);
}
static inline gboolean gst_shim_is_type_finder(gpointer feature) { return GST_IS_TYPE_FIND_FACTORY(feature); }
static inline const gchar *gst_shim_feature_class(gpointer feature)
{
    const gchar *name = NULL;
    if (GST_IS_ELEMENT_FACTORY(feature))
        name = gst_element_factory_get_metadata(GST_ELEMENT_FACTORY(feature), GST_ELEMENT_METADATA_KLASS);
    return name ? name : "";
}
static inline GType gst_shim_type_uri_handler(void) { return GST_TYPE_URI_HANDLER; }
static inline GstPadMode gst_shim_pad_mode(GstPad *pad) { return GST_PAD_MODE(pad); }
static inline GstEventType gst_shim_sticky_custom(void) { return GST_EVENT_CUSTOM_DOWNSTREAM_STICKY; }
static inline void gst_shim_set_offsets(GstBuffer *buffer, guint64 from, guint64 to)
{
    GST_BUFFER_OFFSET(buffer) = from;
    GST_BUFFER_OFFSET_END(buffer) = to;
}
static inline void gst_shim_set_duration(GstBaseSrc *source, guint64 bytes)
{
    GST_OBJECT_LOCK(source);
    source->segment.duration = bytes;
    GST_OBJECT_UNLOCK(source);
}
static inline GstQueryType gst_shim_query_type(GstQuery *query) { return GST_QUERY_TYPE(query); }
static inline gboolean gst_shim_is_element(gpointer object) { return GST_IS_ELEMENT(object); }
static inline GType gst_shim_instance_type(gpointer object) { return G_OBJECT_TYPE(object); }

/* Inline functions on structures of other names, which Swift does not see as functions on these. */
static inline void gst_shim_query_unref(GstQuery *query) { gst_query_unref(query); }
static inline void gst_shim_context_unref(GstContext *context) { gst_context_unref(context); }
static inline GstCaps *gst_shim_caps_ref(GstCaps *caps) { return gst_caps_ref(caps); }
static inline void gst_shim_caps_unref(GstCaps *caps) { gst_caps_unref(caps); }
static inline void gst_shim_tag_list_unref(GstTagList *list) { gst_tag_list_unref(list); }
static inline void gst_shim_sample_unref(GstSample *sample) { gst_sample_unref(sample); }
static inline void gst_shim_message_unref(GstMessage *message) { gst_message_unref(message); }
static inline GstBuffer *gst_shim_buffer_ref(GstBuffer *buffer) { return gst_buffer_ref(buffer); }
static inline GstBuffer *gst_shim_make_writable(GstBuffer *buffer) { return gst_buffer_make_writable(buffer); }
static inline void gst_shim_buffer_unref(GstBuffer *buffer) { gst_buffer_unref(buffer); }
static inline void gst_shim_event_unref(GstEvent *event) { gst_event_unref(event); }

/* Sets what Xlib calls when a connection breaks. FALSE if no plugin has loaded Xlib, which is not linked. */
static inline gboolean gst_shim_watch_x11(int (*handler)(void *display))
{
    typedef int (*IOErrorHandler)(void *);
    void *library = dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return FALSE;
    IOErrorHandler (*set_handler)(IOErrorHandler) =
        (IOErrorHandler(*)(IOErrorHandler))dlsym(library, "XSetIOErrorHandler");
    if (set_handler)
        set_handler(handler);
    return set_handler != NULL;
}

static inline void gst_shim_stand_still(void)
{
    for (;;)
        pause();
}
