// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ReceiverRuntime
import Settings

/// The receiver's own page for browsers, read from its folder whenever somebody asks for it, which is seldom.
final class WebPage: PageFiles, Sendable {
    private let folder: String
    /// Bytes of a file, at most.
    private static let limit = 1 << 18
    private static let types = [
        "index.html": "text/html; charset=utf-8", "page.css": "text/css; charset=utf-8",
        "page.js": "text/javascript; charset=utf-8",
    ]
    /// Nothing but its own files and its own receiver, and in nobody's frame.
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' ws: wss:; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """

    init(folder: String) { self.folder = folder }

    func page(named name: String) -> Page? {
        guard let type = Self.types[name],
            let body = try? FileSystem.read("\(folder)/\(name)", maximum: Self.limit)
        else { return nil }
        return Page(
            type: type, body: body,
            headers: [
                "Content-Security-Policy": Self.policy, "X-Content-Type-Options": "nosniff",
                "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache",
            ])
    }
}
