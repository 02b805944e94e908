// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import Testing

@testable import MediaSource

@Suite(.timeLimit(.minutes(1))) struct `A source of HTTP` {
    @Test func `gives the bytes and says how many there are`() async throws {
        let server = try Misbehaving()
        let source = server.open("plain/300000")
        defer { source.close() }
        let reader = SourceReader(source)
        let facts = try await outside { reader.awaitFacts() }
        #expect(facts?.length == 300_000)
        #expect(source.isSeekable)
        #expect(try await reader.bytes() == pattern(0..<300_000))
        #expect(try await server.requests() == ["plain/300000 -"])
    }

    @Test func `goes on at the exact byte when connections are cut`() async throws {
        let server = try Misbehaving()
        let source = server.open("cut/1000000/299999")
        defer { source.close() }
        #expect(try await SourceReader(source).bytes() == pattern(0..<1_000_000))
        #expect(
            try await server.requests() == [
                "cut/1000000/299999 -", "cut/1000000/299999 bytes=299999-",
                "cut/1000000/299999 bytes=599998-", "cut/1000000/299999 bytes=899997-",
            ])
    }

    @Test func `gives up a server that brings nothing more, and then says so`() async throws {
        let server = try Misbehaving()
        let source = server.open("dead/100000/50000")
        defer { source.close() }
        let reader = SourceReader(source)
        #expect(try await reader.bytes(to: 50_000) == pattern(0..<50_000))
        await #expect(throws: MediaFailure(.network, "")) { try await reader.bytes(from: 50_000) }
        #expect(try await server.requests().count == 4)
    }

    @Test func `whose server is gone for a while goes on when it is back`() async throws {
        let server = try Misbehaving()
        let source = server.open("gone/100000/50000")
        defer { source.close() }
        #expect(try await SourceReader(source).bytes() == pattern(0..<100_000))
        #expect(source.trouble == nil)
        #expect(try await server.requests().count == 5)
    }

    @Test func `whose server does not come back says so when the time is over`() async throws {
        let server = try Misbehaving { $0.patience = .milliseconds(300) }
        let source = server.open("gone/100000/50000")
        defer { source.close() }
        let failure = await #expect(throws: MediaFailure.self) { try await SourceReader(source).bytes() }
        #expect(failure?.code == .timeout)
        #expect(source.trouble?.code == .network)
    }

    @Test func `whose server is busy is asked again`() async throws {
        let server = try Misbehaving()
        let source = server.open("busy/5000/2")
        defer { source.close() }
        #expect(try await SourceReader(source).bytes() == pattern(0..<5000))
        #expect(try await server.requests().count == 3)
    }

    @Test func `of a station has no end, and its texts stay out of it`() async throws {
        let server = try Misbehaving()
        // Connections end in the sound, before a length, in a text.
        for end in [2500, 1000, 1010] {
            let source = server.open("station/1000/\(end)")
            defer { source.close() }
            let bytes = try await SourceReader(source).bytes(to: 3000)
            // Bytes of 1, then of 2 and 3: each connection has its own.
            #expect(bytes.count == 3000)
            #expect(bytes.first == 1 && bytes.allSatisfy { (1...9).contains($0) })
            #expect(bytes == bytes.sorted() && Set(bytes).count > 1)
        }
        #expect(try await server.requests().allSatisfy { $0.hasSuffix(" -") })
    }

    @Test func `of no length, from a server that begins anew, goes on where it was`() async throws {
        let server = try Misbehaving()
        let source = server.open("again/200000/90000")
        defer { source.close() }
        #expect(try await SourceReader(source).bytes() == pattern(0..<200_000))
    }

    @Test func `that changed meanwhile is not pieced together`() async throws {
        let server = try Misbehaving()
        let source = server.open("changed/100000/50000")
        defer { source.close() }
        let failure = await #expect(throws: MediaFailure.self) { try await SourceReader(source).bytes() }
        #expect(failure?.message.contains("changed") == true)
    }

    @Test func `without ranges is read past, and taken up from the beginning`() async throws {
        let server = try Misbehaving()
        let source = server.open("norange/900000/500000")
        defer { source.close() }
        let reader = SourceReader(source)
        #expect(try await reader.bytes(to: 400_000) == pattern(0..<400_000))
        #expect(try await reader.bytes(from: 800_000) == pattern(800_000..<900_000))
        #expect(try await reader.bytes(from: 100, to: 1000) == pattern(100..<1000))
    }

    @Test func `that is shorter than announced ends where it ends`() async throws {
        let server = try Misbehaving()
        let source = server.open("toolong/100000/1000")
        defer { source.close() }
        #expect(try await SourceReader(source).bytes() == pattern(0..<100_000))
    }

    @Test(arguments: ["chunked/200000", "nolength/200000", "packed/200000", "trickle/2000"])
    func `comes in whatever form the server sends it`(path: String) async throws {
        let server = try Misbehaving()
        let source = server.open(path)
        defer { source.close() }
        let size = try #require(path.split(separator: "/").last.flatMap { Int64($0) })
        #expect(try await SourceReader(source).bytes() == pattern(0..<size))
        #expect(source.facts?.length == size)
    }

    @Test func `of no bytes ends at once`() async throws {
        let server = try Misbehaving()
        let source = server.open("plain/0")
        defer { source.close() }
        #expect(try await SourceReader(source).bytes() == [])
    }

    @Test func `that redirects in a circle, or for ever, is named so`() async throws {
        let server = try Misbehaving()
        for (path, word) in [("circle/0", "circle"), ("chain/0", "times")] {
            let source = server.open(path)
            defer { source.close() }
            let failure = await #expect(throws: MediaFailure.self) { try await SourceReader(source).bytes() }
            #expect(failure?.message.contains(word) == true)
            #expect(failure?.code == .network)
        }
    }

    @Test func `sends the cookie that a redirection sets, and knows where it led`() async throws {
        let server = try Misbehaving()
        let source = server.open("away/5000")
        defer { source.close() }
        #expect(try await SourceReader(source).bytes() == pattern(0..<5000))
        #expect(source.finalURI == server.uri("inside/5000"))
    }

    @Test(arguments: [
        (404, MediaFailure.Code.notFound), (410, .notFound), (401, .accessDenied), (403, .accessDenied),
        (416, .httpStatus), (429, .httpStatus), (500, .httpStatus), (503, .httpStatus),
    ])
    func `fails with the status of the server`(status: Int, code: MediaFailure.Code) async throws {
        let server = try Misbehaving()
        let source = server.open("status/\(status)")
        defer { source.close() }
        await #expect(throws: MediaFailure(code, "", httpStatus: Int32(status))) {
            try await SourceReader(source).bytes()
        }
    }

    @Test func `whose server is not there fails at once`() async throws {
        let server = try Misbehaving()
        let source = server.fetcher.open(SourceRequest(uri: "http://127.0.0.1:1/a"))
        defer { source.close() }
        await #expect(throws: MediaFailure(.network, "")) { try await SourceReader(source).bytes() }
    }

    @Test func `whose server is silent fails in time`() async throws {
        var patience = MediaFetcher.Patience()
        patience.answer = .milliseconds(100)
        let server = try Misbehaving(patience: patience)
        let source = server.open("silent/1")
        defer { source.close() }
        await #expect(throws: MediaFailure(.timeout, "")) { try await SourceReader(source).bytes() }
    }

    @Test func `that stalls is asked again where it stalled`() async throws {
        var patience = MediaFetcher.Patience()
        patience.silence = .milliseconds(200)
        let server = try Misbehaving(patience: patience)
        let source = server.open("stall/100000/30000")
        defer { source.close() }
        #expect(try await SourceReader(source).bytes() == pattern(0..<100_000))
        #expect(try await server.requests() == ["stall/100000/30000 -", "stall/100000/30000 bytes=30000-"])
    }

    @Test func `is refused with the reason if its certificate is nobody's`() async throws {
        let server = try Misbehaving(secure: true)
        let source = server.open("plain/100")
        defer { source.close() }
        let failure = await #expect(throws: MediaFailure.self) { try await SourceReader(source).bytes() }
        #expect(failure?.code == .tls)
        #expect(failure?.message.contains("signed by nobody") == true)
    }

    @Test func `going back within what is kept asks the server nothing`() async throws {
        let server = try Misbehaving()
        let source = server.open("plain/20000000")
        defer { source.close() }
        let reader = SourceReader(source)
        #expect(try await reader.bytes(from: 0, to: 500_000) == pattern(0..<500_000))
        #expect(try await reader.bytes(from: 15_000_000, to: 15_300_000) == pattern(15_000_000..<15_300_000))
        let before = try await server.requests().count
        for _ in 0..<5 {
            #expect(try await reader.bytes(from: 100_000, to: 300_000) == pattern(100_000..<300_000))
            #expect(
                try await reader.bytes(from: 15_100_000, to: 15_200_000) == pattern(15_100_000..<15_200_000))
        }
        let new = try await server.requests().dropFirst(before)
        // What lies ahead may be fetched on; nothing that was read is.
        #expect(new.allSatisfy { !$0.hasSuffix("-") || !$0.contains("bytes=1000") })
    }

    @Test func `that is small is fetched once, and every place of it is there`() async throws {
        let server = try Misbehaving()
        let source = server.open("plain/900000")
        defer { source.close() }
        let reader = SourceReader(source)
        #expect(try await reader.bytes(from: 800_000, to: 900_000) == pattern(800_000..<900_000))
        for start in stride(from: Int64(0), to: 800_000, by: 150_000) {
            #expect(try await reader.bytes(from: start, to: start + 1000) == pattern(start..<start + 1000))
        }
        let before = try await server.requests().count
        for start in stride(from: Int64(0), to: 800_000, by: 150_000) {
            _ = try await reader.bytes(from: start, to: start + 9)
        }
        #expect(try await server.requests().count == before)
    }

    @Test func `of a hundred megabytes is read within the limit of memory`() async throws {
        let server = try Misbehaving { $0.capacity = 2 << 20 }
        let source = server.open("plain/100000000")
        defer { source.close() }
        let reader = SourceReader(source)
        let (place, most) = try await outside {
            var (place, most): (Int64, Int) = (0, 0)
            while case .bytes(let bytes) = reader.read(at: place, maximum: 65_536) {
                place += Int64(bytes.count)
                most = max(most, source.held)
            }
            return (place, most)
        }
        #expect(place == 100_000_000)
        #expect(most <= 2 << 20)
    }

    @Test func `that is not read is not fetched beyond the read-ahead`() async throws {
        let server = try Misbehaving { $0.readAhead = 256 << 10 }
        let source = server.open("endless/1")
        defer { source.close() }
        let reader = SourceReader(source)
        _ = try await reader.bytes(from: 0, to: 1000)
        // The server says something else meanwhile, so the source had its turns.
        for _ in 0..<20 { _ = try await server.requests() }
        #expect(source.held <= (256 << 10) + 65_536)
    }

    @Test func `lets a reader go that is interrupted, and serves it again`() async throws {
        let server = try Misbehaving()
        let source = server.open("stall/100000/1000")
        defer { source.close() }
        let reader = SourceReader(source)
        _ = try await reader.bytes(to: 1000)
        let waiting = Task { try await outside { reader.read(at: 1000, maximum: 10) } }
        reader.interrupt()
        #expect(try await waiting.value == .interrupted)
        reader.resume()
        #expect(try await reader.bytes(to: 10) == pattern(0..<10))
        let closed = Task { try await outside { reader.read(at: 1000, maximum: 10) } }
        source.close()
        #expect(try await closed.value == .end)
    }

    @Test func `takes any certificate of the host that was named, if that is allowed, and nothing of others`()
        async throws
    {
        let server = try Misbehaving(secure: true)
        func fetch(_ path: String, _ isAllowed: Bool) async throws -> [UInt8] {
            let source = server.fetcher.open(
                SourceRequest(uri: server.uri(path), allowsInvalidCertificate: isAllowed))
            defer { source.close() }
            return try await SourceReader(source).bytes()
        }
        #expect(try await fetch("cut/1000000/299999", true) == pattern(0..<1_000_000))
        // A connection that was made so is nobody else's.
        await #expect(throws: MediaFailure(.tls, "")) { try await fetch("plain/100", false) }
        await #expect(throws: MediaFailure(.tls, "")) { try await fetch("elsewhere/\(server.port)/2", true) }
    }

    /// Asks `uri` with headers of every kind, and gives those that arrived.
    private func headersArriving(at uri: String, by server: Misbehaving) async throws -> String {
        let request = SourceRequest(
            uri: uri,
            headers: [
                HeaderField(name: "Authorization", value: "Bearer 1"),
                HeaderField(name: "Cookie", value: "a=1"),
                HeaderField(name: "X-Key", value: "2"), HeaderField(name: "Referer", value: "http://a/"),
            ])
        let source = server.fetcher.open(request)
        defer { source.close() }
        return String(decoding: try await SourceReader(source).bytes(), as: UTF8.self)
    }

    @Test func `keeps what proves who asks from other servers`() async throws {
        let (home, other) = (try Misbehaving(), try Misbehaving())
        let asked = try await headersArriving(at: home.uri("headers/0"), by: home)
        #expect(asked.contains("authorization: Bearer 1"))
        #expect(asked.contains("cookie: a=1"))
        #expect(asked.contains("x-key: 2"))
        #expect(asked.contains("accept-encoding: identity"))
        #expect(asked.contains("user-agent: Linnet"))

        let elsewhere = try await headersArriving(at: home.uri("elsewhere/\(other.port)/2"), by: home)
        #expect(elsewhere.contains("referer: http://a/"))
        #expect(elsewhere.contains("user-agent: Linnet"))
        for name in ["authorization", "cookie", "x-key"] { #expect(!elsewhere.contains(name)) }

        // Another server of the same host, which may be somebody else's.
        let beside = try await headersArriving(at: home.uri("elsewhere/\(other.port)/1"), by: home)
        #expect(beside.contains("x-key: 2"))
        for name in ["authorization", "cookie"] { #expect(!beside.contains(name)) }
    }
}
