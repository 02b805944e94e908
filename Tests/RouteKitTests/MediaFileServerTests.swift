// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Settings
import Soup
import Testing

@testable import RouteKit

@RouteActor struct MediaFileServerTests {
    private let client = HTTPClient()
    // This file itself: it is there, and its ending has no media type.
    private let path = #filePath

    @Test func `the file is served under its secret path and nothing else is`() async throws {
        let server = try MediaFileServer(file: path, reachedAt: "127.0.0.1")
        let answer = try await client.get(server.url, maximum: 1 << 20)
        #expect(answer.status == 200)
        #expect(Int64(answer.body.count) == server.size)
        #expect(server.url.hasSuffix("/MediaFileServerTests.swift"))
        let root = server.url.split(separator: "/").prefix(2).joined(separator: "//")
        for other in ["/", "/MediaFileServerTests.swift", "/../../etc/passwd"] {
            #expect(try await client.get(root + other, maximum: 1 << 20).status == 404)
        }
        server.stop()
    }

    /// An address of this machine that counts on one link only, with the link.
    private nonisolated static let linkAddress: String? = {
        let lines = (try? FileSystem.read("/proc/net/if_inet6", maximum: 65_536)).map {
            String(decoding: $0, as: UTF8.self).split(separator: "\n" as Character)
        }
        for words in (lines ?? []).map({ $0.split(separator: " " as Character) })
        where words.count == 6 && words[0].hasPrefix("fe80") {
            let digits = Array(words[0])
            let groups = stride(from: 0, to: 32, by: 4).map { String(digits[$0..<$0 + 4]) }
            return "\(groups.joined(separator: ":"))%\(words[5])"
        }
        return nil
    }()

    @Test(.enabled(if: linkAddress != nil, "this machine has no link with addresses of its own"))
    func `an address of one link is listened at there, and given without the link's name`() async throws {
        let address = try #require(Self.linkAddress)
        let server = try MediaFileServer(file: path, reachedAt: address)
        #expect(!server.url.utf8.contains(UInt8(ascii: "%")))
        let zone = try #require(address.split(separator: "%" as Character).last)
        // Whoever fetches it knows the link as it calls it.
        let parts = server.url.split(separator: "]" as Character, maxSplits: 1)
        let answer = try await client.get("\(parts[0])%25\(zone)]\(parts[1])", maximum: 1 << 20)
        #expect(Int64(answer.body.count) == server.size)
        // What a route says of itself can be listened at.
        let listener = Server()
        var local: String?
        listener.handleWebSocket("/") { socket, _ in socket.close(code: 1000, reason: "") }
        let port = try listener.listen(port: 0)
        let host = "[\(address.split(separator: "%" as Character)[0])%25\(zone)]"
        _ = try await client.connect("ws://\(host):\(port)/") { local = $0.localAddress }
        #expect(local?.hasSuffix("%\(zone)") == true)
        _ = try MediaFileServer(file: path, reachedAt: try #require(local))
    }

    @Test func `two servers have different secrets`() throws {
        let one = try MediaFileServer(file: path, reachedAt: "127.0.0.1")
        let other = try MediaFileServer(file: path, reachedAt: "127.0.0.1")
        #expect(one.url.split(separator: "/")[2] != other.url.split(separator: "/")[2])
        #expect(one.url.split(separator: "/")[2].count == 32)
    }

    @Test func `a file that is not there, or a folder, cannot be served`() {
        for path in ["/nonexistent", "/"] {
            #expect(throws: RoutingError(.unreadableFile, family: .session, "")) {
                try MediaFileServer(file: path, reachedAt: "127.0.0.1")
            }
        }
    }

    @Test func `the type follows the ending, the name is fit for a URL`() {
        #expect(MediaFileServer.mediaType(of: "a.FLAC") == "audio/flac")
        #expect(MediaFileServer.mediaType(of: "a.b.mkv") == "video/x-matroska")
        #expect(MediaFileServer.mediaType(of: "noending") == "application/octet-stream")
        #expect(MediaFileServer.urlName(of: "/x/My song #1?.mp3") == "My_song__1_.mp3")
    }

    @Test func `addresses are written as URLs have them`() {
        #expect(Receiver.Address(host: "::1", port: 1).description == "[::1]:1")
        #expect(Receiver.Address(host: "fe80::1%eth0", port: 1).description == "[fe80::1%25eth0]:1")
        #expect(Receiver.Address(host: "a.local", port: 80).description == "a.local:80")
    }

    @Test func `identifiers are UUIDs and differ`() {
        let one = RandomText.uuid()
        #expect(one.count == 36)
        #expect(one.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
        #expect(one.split(separator: "-")[2].hasPrefix("4"))
        #expect(one != RandomText.uuid())
    }
}
