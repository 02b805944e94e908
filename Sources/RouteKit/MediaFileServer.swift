// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Soup

/// Serves one local file over HTTP, so that a receiver can fetch it, for as long as the object lives.
///
/// It listens on the one local address that the receiver reaches, and serves the file under a path that nobody
/// guesses; everything else is refused.
@RouteActor public final class MediaFileServer {
    /// Where the receiver fetches the file.
    public let url: String
    /// Bytes of the file when it was opened.
    public let size: Int64

    private var server: Server?

    /// Opens the file and begins to serve it to whoever reaches us at `localAddress`, such as `Route.localAddress`.
    public init(file path: String, reachedAt localAddress: String) throws {
        do {
            let file = try ServedFile(path: path)
            let name = Self.urlName(of: path)
            let secret = "/\(RandomText.token())/\(name)"
            let type = Self.mediaType(of: name)
            // One receiver fetches with a few connections at a time.
            var limits = Server.Limits()
            limits.connections = 64
            let server = Server(limits: limits) { $0.path == secret ? nil : 404 }
            server.handle(secret) { _ in
                Response(file, type: type, headers: ["Cache-Control": "no-store"])
            }
            let port = try server.listen(address: localAddress)
            self.server = server
            size = file.size
            url = "http://\(Self.place(localAddress, port))\(secret)"
        } catch {
            throw RoutingError(.unreadableFile, family: .session, Connector.words(for: error))
        }
    }

    /// Serves a list of local files: the text that `list` makes of their addresses, and under these the files.
    ///
    /// A file is opened when it is asked for, so a long list costs no descriptors and one that is gone is not found.
    package init(
        files: [String], name: String, type: String, reachedAt localAddress: String,
        list: (_ urls: [String]) -> String
    ) throws {
        do {
            let secret = "/\(RandomText.token())"
            let paths = files.enumerated().map {
                "\(secret)/\($0.offset + 1)/\(Self.urlName(of: $0.element))"
            }
            let served = Dictionary(uniqueKeysWithValues: zip(paths, files))
            let listPath = "\(secret)/\(Self.urlName(of: name))"
            var limits = Server.Limits()
            limits.connections = 64
            let server = Server(limits: limits) { $0.path == listPath || served[$0.path] != nil ? nil : 404 }
            let port = try server.listen(address: localAddress)
            let root = "http://\(Self.place(localAddress, port))"
            let text = Array(list(paths.map { root + $0 }).utf8)
            server.handle(below: secret) { request in
                let headers = ["Cache-Control": "no-store"]
                guard let path = served[request.path] else {
                    return Response(200, type, text, headers: headers)
                }
                guard let file = try? ServedFile(path: path) else {
                    return Response(404, "text/plain", Array("not found\n".utf8))
                }
                return Response(file, type: Self.mediaType(of: Self.urlName(of: path)), headers: headers)
            }
            self.server = server
            size = Int64(text.count)
            url = root + listPath
        } catch {
            throw RoutingError(.unreadableFile, family: .session, Connector.words(for: error))
        }
    }

    /// Ends the serving; what is under way is cut.
    public func stop() {
        server?.stop()
        server = nil
    }

    isolated deinit { server?.stop() }

    /// The name of a link is this machine's own and says nothing to the receiver.
    private static func place(_ address: String, _ port: UInt16) -> Receiver.Address {
        Receiver.Address(
            host: String(address.split(separator: "%" as Character).first ?? ""), port: port)
    }

    /// The file's name, with everything but letters, digits, `.`, `-` and `_` as `_`: it only helps to tell the type.
    static func urlName(of path: String) -> String {
        let name = path.split(separator: "/").last ?? "media"
        return String(
            decoding: name.utf8.suffix(64).map { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                    byte
                default: UInt8(ascii: "_")
                }
            }, as: UTF8.self)
    }

    /// The MIME type by the ending of the name.
    static func mediaType(of name: String) -> String {
        switch name.split(separator: ".").last?.lowercased() {
        case "mp3": "audio/mpeg"
        case "flac": "audio/flac"
        case "wav": "audio/wav"
        case "ogg", "oga", "opus": "audio/ogg"
        case "m4a", "m4b": "audio/mp4"
        case "aac": "audio/aac"
        case "aif", "aiff": "audio/aiff"
        case "mka": "audio/x-matroska"
        case "mp4", "m4v": "video/mp4"
        case "mov": "video/quicktime"
        case "mkv": "video/x-matroska"
        case "webm": "video/webm"
        case "ts", "m2ts": "video/mp2t"
        case "avi": "video/x-msvideo"
        case "m3u8": "application/vnd.apple.mpegurl"
        case "mpd": "application/dash+xml"
        default: "application/octet-stream"
        }
    }
}
