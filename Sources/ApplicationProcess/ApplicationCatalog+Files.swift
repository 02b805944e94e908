// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import ReceiverRuntime
import RouteWire
import Settings

extension ApplicationCatalog {
    /// The largest file of a page in bytes.
    static let fileLimit = 4 << 20
    /// The most that is taken of the helper for pages.
    static let scriptLimit = 256 << 10

    /// A file of an application for a browser: of a page all, of a program the icon. Nil if there is none, if it is too
    /// large, or if the path leads out of the folder.
    func page(_ path: String, of application: ApplicationID) -> Page? {
        guard let entry = entries[application], ApplicationManifest.isInside(path) else { return nil }
        if case .program = entry.manifest.content, path != entry.manifest.icon { return nil }
        var file = entry.folder
        for name in path.split(separator: "/" as Character) {
            file += "/\(name)"
            guard let kind = FileSystem.entry(file)?.kind, kind == .folder || kind == .file else {
                return nil
            }
        }
        guard FileSystem.entry(file)?.kind == .file,
            let body = try? FileSystem.read(file, maximum: Self.fileLimit)
        else { return nil }
        return Self.page(named: path, body)
    }

    static func page(named name: String, _ body: [UInt8]) -> Page {
        Page(
            type: type(of: name), body: body,
            // No guessing, and no use by pages of others.
            headers: ["X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin"])
    }

    /// The media type that belongs to the ending of a name.
    static func type(of path: String) -> String {
        let name = path.lowercased()
        guard let dot = name.lastIndex(of: "."), !name[dot...].utf8.contains(UInt8(ascii: "/")) else {
            return "application/octet-stream"
        }
        return types[String(name[name.index(after: dot)...])] ?? "application/octet-stream"
    }

    private static let types = [
        "html": "text/html; charset=utf-8", "htm": "text/html; charset=utf-8",
        "js": "text/javascript; charset=utf-8", "mjs": "text/javascript; charset=utf-8",
        "css": "text/css; charset=utf-8", "json": "application/json", "txt": "text/plain; charset=utf-8",
        "svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg",
        "gif": "image/gif", "webp": "image/webp", "avif": "image/avif", "ico": "image/vnd.microsoft.icon",
        "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf",
        "wasm": "application/wasm", "webmanifest": "application/manifest+json", "map": "application/json",
        "mp3": "audio/mpeg", "ogg": "audio/ogg", "wav": "audio/wav", "mp4": "video/mp4", "webm": "video/webm",
    ]
}
