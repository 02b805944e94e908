// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire
import SessionCore

// A session's words for the item of a group, and back.

extension SessionRequest {
    /// A session of the group's item on a receiver that did not start it.
    init?(_ item: WireGroupItem) {
        guard let media = item.media else { return nil }
        self.init(
            item: MediaItem(
                uri: media.url, headers: media.headers, userAgent: media.userAgent,
                allowsInvalidCertificate: media.allowsInvalidCertificate,
                startPosition: media.startPosition),
            isPlaying: false, metadata: Metadata(title: media.title, subtitle: media.subtitle),
            segments: media.segments)
        identifier = media.identifier
    }

    func groupItem(named name: String) -> WireGroupItem {
        WireGroupItem(
            identifier: name, title: metadata.title, subtitle: metadata.subtitle,
            media: QueueItemRequest(
                url: item.uri, headers: item.headers, userAgent: item.userAgent,
                allowsInvalidCertificate: item.allowsInvalidCertificate,
                startPosition: item.startPosition, title: metadata.title, subtitle: metadata.subtitle,
                segments: segments, identifier: identifier))
    }
}
