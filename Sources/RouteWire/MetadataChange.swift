// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

/// Words and segments of the current item that take the place of those that were given before. What is nil stays.
package struct MetadataChange: Equatable, Sendable {
    package struct Words: Equatable, Sendable {
        package var title: String?
        package var subtitle: String?
        package init(title: String? = nil, subtitle: String? = nil) {
            (self.title, self.subtitle) = (title, subtitle)
        }
    }

    package var words: Words?
    package var segments: [Segment]?

    package init(words: Words? = nil, segments: [Segment]? = nil) {
        (self.words, self.segments) = (words, segments)
    }

    var members: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        if let words {
            members["metadata"] = ["title": JSONValue(words.title), "subtitle": JSONValue(words.subtitle)]
        }
        if let segments { members["segments"] = .array(segments.map(\.json)) }
        return members
    }

    init(_ reader: ParamReader) throws(RouteError) {
        if let metadata = try reader.optionalObject("metadata") {
            words = Words(
                title: try metadata.optionalText("title", bytes: 0...1_024),
                subtitle: try metadata.optionalText("subtitle", bytes: 0...1_024))
        }
        guard reader.optional("segments") != nil else { return }
        var list: [Segment] = []
        for segment in try reader.objects("segments", limit: WireLimits.segments) {
            list.append(try Segment(segment))
        }
        segments = list
    }
}
