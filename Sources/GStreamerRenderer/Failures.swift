// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GStreamer
import MediaModel
import MediaSource

extension MediaFailure {
    /// The failure that an element's error amounts to. `missing` is what was found to be not installed.
    init(_ failure: PipelineFailure, missing: String?) {
        if let status = failure.httpStatus, status >= 400 {
            self.init(httpStatus: status)
            return
        }
        let source = failure.element
        let isSource = source.hasSuffix("src") || source.names("demux2")
        switch (failure.domain, failure.code) {
        case (.core, 12), (.stream, 6):
            // GST_CORE_ERROR_MISSING_PLUGIN, GST_STREAM_ERROR_CODEC_NOT_FOUND
            self = Self.missing(missing)
        case (.stream, 4):
            // GST_STREAM_ERROR_TYPE_NOT_FOUND
            self.init(.unsupportedFormat, "The media is of no known format.")
        case (.stream, 5), (.stream, 3):
            self =
                missing.map { Self.missing($0) }
                ?? .init(.unsupportedFormat, "The media is of a format that is not played.")
        case (.stream, 1...3) where missing != nil:
            // What could not be decoded had nowhere to go.
            self = Self.missing(missing)
        case (.stream, 11), (.stream, 12):
            self.init(.accessDenied, "The media is encrypted.")
        case (.stream, 7): self.init(.decode, "The media cannot be decoded.")
        case (.stream, _) where source == ByteSourceElement.factory:
            // It says itself what is wrong with the server; what is left is that nobody took what it had, and said why.
            self.init(.decode, "The media is damaged.")
        case (.stream, _) where isSource: self.init(.network, "The media's address cannot be read.")
        case (.stream, _): self.init(.decode, "The media is damaged (\(source)).")
        case (.resource, 3) where source.names("demux2"):
            // Whatever a demuxer could not get: an answer with a status was looked at above.
            self.init(.network, "The media's server cannot be reached.")
        case (.resource, 3): self.init(.notFound, "There is nothing at the media's address.")
        case (.resource, 15): self.init(.accessDenied, "The server refuses access to the media.")
        case (.resource, _) where failure.debug.names("TLS") || failure.message.names("TLS"):
            self.init(.tls, "The server's certificate is not accepted.")
        case (.resource, _)
        where failure.debug.names("timed out") || failure.message.names("timed out"):
            self.init(.timeout, "The server does not answer.")
        case (.resource, _) where isSource: self.init(.network, "The media's server cannot be reached.")
        case (.resource, _): self.init(.network, "The media cannot be read (\(source)).")
        case (.library, _) where source.hasPrefix("avdemux"):
            self.init(.decode, "The media is damaged (\(source)).")
        case (.core, _), (.library, _), (.other, _):
            self.init(.internalFailure, "The element \(source) failed.")
        }
    }

    static func missing(_ what: String?) -> MediaFailure {
        if what?.hasPrefix("text/") == true {
            return MediaFailure(.unsupportedFormat, "There is a page of text at the address, and no media.")
        }
        return MediaFailure(.missingPlugin, "Not installed: \(what ?? "a decoder for this media").")
    }
}

extension String {
    /// True if `text` stands in it. The standard library's own search brings the machinery of regular expressions into
    /// the program, a megabyte of it.
    fileprivate func names(_ text: String) -> Bool {
        var rest = utf8[...]
        while !rest.starts(with: text.utf8) {
            guard rest.popFirst() != nil else { return false }
        }
        return true
    }
}
