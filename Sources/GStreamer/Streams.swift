// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer
import GLibLoop
import Synchronization

/// One stream of an item, as the demuxer knows it.
package struct MediaStream: Equatable, Sendable {
    package enum Kind: Sendable { case audio, video, text, other }
    package var identifier: String
    package var kind: Kind
    /// The coded format, such as `audio/mpeg`.
    package var mediaType: String
    /// As the container writes it: usually ISO 639.
    package var language: String?
    package var title: String?
    package var isSelectedByDefault: Bool
    package var width: Int32?
    package var height: Int32?
    /// True of one picture, such as a cover, that a container keeps as if it were video.
    package var isStill = false

    init(_ stream: UnsafeMutablePointer<GstStream>) {
        identifier = unsafe gst_stream_get_stream_id(stream).map { unsafe String(cString: $0) } ?? ""
        let type = unsafe gst_stream_get_stream_type(stream).rawValue
        kind =
            type & GST_STREAM_TYPE_AUDIO.rawValue != 0
            ? .audio
            : type & GST_STREAM_TYPE_VIDEO.rawValue != 0
                ? .video : type & GST_STREAM_TYPE_TEXT.rawValue != 0 ? .text : .other
        isSelectedByDefault =
            unsafe gst_stream_get_stream_flags(stream).rawValue & GST_STREAM_FLAG_SELECT.rawValue != 0
        mediaType = ""
        if let caps = unsafe gst_stream_get_caps(stream) {
            if unsafe gst_caps_get_size(caps) > 0, let structure = unsafe gst_caps_get_structure(caps, 0) {
                mediaType = unsafe gst_structure_get_name(structure).map { unsafe String(cString: $0) } ?? ""
                var (rate, scale): (Int32, Int32) = (0, 0)
                let hasRate = unsafe gst_structure_get_fraction(structure, "framerate", &rate, &scale) != 0
                isStill = mediaType.hasPrefix("image/") && (!hasRate || rate == 0)
                var (width, height): (Int32, Int32) = (0, 0)
                if unsafe gst_structure_get_int(structure, "width", &width) != 0,
                    unsafe gst_structure_get_int(structure, "height", &height) != 0
                {
                    (self.width, self.height) = (width, height)
                }
            }
            unsafe gst_shim_caps_unref(caps)
        }
        if let tags = unsafe gst_stream_get_tags(stream) {
            let values = unsafe TagValues(tags)
            (language, title) = (values.language, values.title)
            unsafe gst_shim_tag_list_unref(tags)
        }
    }
}

/// All streams of an item. What is known of each grows while the item is read.
@safe package final class StreamSet: @unchecked Sendable {
    // Collections do not change once they are posted; GstStream guards its properties by a lock.
    private let pointer: UnsafeMutablePointer<GstStreamCollection>
    /// Media have a handful; more than this are not looked at.
    private static let limit: UInt32 = 64
    /// Streams that are left out.
    private let hidden: Set<String>

    /// Takes over a reference.
    init(adopting pointer: UnsafeMutablePointer<GstStreamCollection>, hiding hidden: Set<String> = []) {
        unsafe self.pointer = unsafe pointer
        self.hidden = hidden
    }

    /// The set without some of its streams.
    package func without(_ identifiers: Set<String>) -> StreamSet {
        unsafe gst_object_ref(pointer)
        return unsafe StreamSet(adopting: pointer, hiding: hidden.union(identifiers))
    }

    deinit { unsafe gst_object_unref(pointer) }

    /// Calls `body`, on any thread, when more is known of a stream's language or title: once, and again after
    /// `StreamWatch.next()`.
    package func watch(_ body: @escaping @Sendable () -> Void) -> StreamWatch {
        unsafe gst_object_ref(pointer)
        return unsafe StreamWatch(adopting: pointer, body)
    }

    /// The streams with what is known of them now.
    package var streams: [MediaStream] {
        (0..<min(Self.limit, unsafe gst_stream_collection_get_size(pointer))).compactMap {
            unsafe gst_stream_collection_get_stream(pointer, $0).map { unsafe MediaStream($0) }
        }.filter { !hidden.contains($0.identifier) }
    }
}

/// Hears that more is known of the streams of a set, until it is let go.
@safe package final class StreamWatch: Sendable {
    // A reference; GObject guards handlers by a lock.
    private nonisolated(unsafe) let pointer: UnsafeMutablePointer<GstStreamCollection>
    private let handler: gulong
    private let told: Told

    private final class Told: Sendable {
        let isTold = Atomic(false)
    }

    /// Takes over a reference.
    fileprivate init(
        adopting pointer: UnsafeMutablePointer<GstStreamCollection>, _ body: @escaping @Sendable () -> Void
    ) {
        let told = Told()
        unsafe self.pointer = unsafe pointer
        self.told = told
        handler = unsafe connectSignal(UnsafeMutableRawPointer(pointer), "stream-notify::tags") { _ in
            if !told.isTold.exchange(true, ordering: .acquiringAndReleasing) { body() }
            return false
        }
    }

    deinit {
        unsafe g_signal_handler_disconnect(pointer, handler)
        unsafe gst_object_unref(pointer)
    }

    /// To be called before the streams are read again.
    package func next() { told.isTold.store(false, ordering: .releasing) }
}

/// What a list of tags says, as far as the receiver shows it.
package struct TagValues: Equatable, Sendable {
    package var title: String?
    package var artist: String?
    package var albumArtist: String?
    package var album: String?
    package var language: String?
    /// A station's name, for streams.
    package var organization: String?
    package var genre: String?
    package var picture: Picture?
    /// True for tags of one stream only, false for those of the whole item.
    package var isOfStream = false
    /// True if the server says it, not the media: what it says of itself is the station.
    package var isOfServer = false

    /// A coded picture.
    package struct Picture: Equatable, Sendable {
        package var bytes: [UInt8]
        package var type: String
        /// True for a front cover, false for any other kind.
        package var isFrontCover: Bool
    }

    /// Larger pictures are left out.
    private static let largestPicture = 4 * 1024 * 1024

    package init() {}

    init(_ list: UnsafeMutablePointer<GstTagList>) {
        title = unsafe Self.text(list, "title")
        artist = unsafe Self.text(list, "artist")
        albumArtist = unsafe Self.text(list, "album-artist")
        album = unsafe Self.text(list, "album")
        language = unsafe Self.text(list, "language-code")
        organization = unsafe Self.text(list, "organization")
        genre = unsafe Self.text(list, "genre")
        isOfStream = unsafe gst_tag_list_get_scope(list) == GST_TAG_SCOPE_STREAM
        picture = unsafe Self.picture(list, "image") ?? Self.picture(list, "preview-image")
    }

    private static func text(_ list: UnsafeMutablePointer<GstTagList>, _ name: String) -> String? {
        var value: UnsafeMutablePointer<gchar>?
        guard unsafe gst_tag_list_get_string(list, name, &value) != 0, let value = unsafe value else {
            return nil
        }
        defer { unsafe g_free(value) }
        // Tags are texts of at most some hundred characters; the rest is somebody's joke.
        let text = String(unsafe String(cString: value).prefix(1000))
        return text.isEmpty ? nil : text
    }

    private static func picture(_ list: UnsafeMutablePointer<GstTagList>, _ name: String) -> Picture? {
        var best: Picture?
        for index in 0..<min(8, unsafe gst_tag_list_get_tag_size(list, name)) {
            var sample: OpaquePointer?
            guard unsafe gst_tag_list_get_sample_index(list, name, index, &sample) != 0,
                let sample = unsafe sample
            else { continue }
            defer { unsafe gst_shim_sample_unref(sample) }
            guard let found = unsafe picture(sample) else { continue }
            if best == nil || (found.isFrontCover && best?.isFrontCover == false) { best = found }
        }
        return best
    }

    private static func picture(_ sample: OpaquePointer) -> Picture? {
        guard let buffer = unsafe gst_sample_get_buffer(sample),
            let caps = unsafe gst_sample_get_caps(sample),
            unsafe gst_caps_get_size(caps) > 0, let structure = unsafe gst_caps_get_structure(caps, 0),
            let name = unsafe gst_structure_get_name(structure)
        else { return nil }
        let type = unsafe String(cString: name)
        let size = unsafe Int(gst_buffer_get_size(buffer))
        guard type.hasPrefix("image/"), size > 0, size <= largestPicture else { return nil }
        var bytes = [UInt8](repeating: 0, count: size)
        let copied = unsafe bytes.withUnsafeMutableBytes {
            unsafe gst_buffer_extract(buffer, 0, $0.baseAddress, gsize(size))
        }
        guard copied == gsize(size) else { return nil }
        var kind: Int32 = 0
        if let information = unsafe gst_sample_get_info(sample) {
            _ = unsafe gst_structure_get_enum(information, "image-type", gst_shim_type_image_kind(), &kind)
        }
        return Picture(bytes: bytes, type: type, isFrontCover: kind == gst_shim_front_cover())
    }
}
