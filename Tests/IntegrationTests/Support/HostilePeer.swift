// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteWire
import SystemProbe

/// A WebSocket client made by hand, so that it can do what no library would let it do. Its calls block.
final class HostilePeer {
    struct Frame: Equatable {
        var opcode: UInt8
        var payload: [UInt8]
        var text: String { String(decoding: payload, as: UTF8.self) }
    }

    enum End: Equatable {
        /// A close frame came, with its code.
        case closed(Int)
        /// The connection was cut without a word.
        case cut
        case stillOpen
    }

    let socket: StreamSocket
    private var buffer: [UInt8] = []
    private var offset = 0
    private var requests = 0
    /// Pings are answered, as they must be.
    var answersPings = true
    private(set) var isAtEnd = false

    init(port: UInt16, receiveBuffer: Int32? = nil, headers: String = "") throws {
        socket = try StreamSocket(host: "127.0.0.1", port: port, receiveBuffer: receiveBuffer)
        try socket.write(Self.upgrade(headers))
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard let byte = takeByte() else { break }
            head.append(byte)
        }
        let text = String(decoding: head, as: UTF8.self)
        guard text.hasPrefix("HTTP/1.1 101") else {
            throw ProbeFailure(
                "upgrading: \(text.split(whereSeparator: \.isNewline).first ?? "no answer")", 0)
        }
    }

    static func upgrade(_ headers: String = "", host: String = "127.0.0.1", path: String = "/v1/route")
        -> String
    {
        "GET \(path) HTTP/1.1\r\nHost: \(host)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\(headers)\r\n"
    }

    /// Sends bytes on a new connection and reads the answer to its end, or until nothing comes for twenty seconds.
    static func exchange(_ port: UInt16, _ text: String, host: String = "127.0.0.1", then more: [UInt8] = [])
        -> String
    {
        guard let socket = try? StreamSocket(host: host, port: port) else { return "no connection" }
        try? socket.write(text)
        try? socket.write(more)
        var answer: [UInt8] = []
        while let bytes = socket.read(milliseconds: 20_000), answer.count < 1 << 20 {
            if bytes.isEmpty { return answer.isEmpty ? "cut" : String(decoding: answer, as: UTF8.self) }
            answer += bytes
            if answer.starts(with: "HTTP/1.1 101".utf8) { break }
        }
        return answer.isEmpty ? "silence" : String(decoding: answer, as: UTF8.self)
    }

    // MARK: Sending

    /// `first` holds FIN, the reserved bits and the opcode. The mask is zero, which is a mask like any other.
    static func frame(_ first: UInt8, _ payload: [UInt8], isMasked: Bool = true) -> [UInt8] {
        let mask: UInt8 = isMasked ? 0x80 : 0
        var frame: [UInt8] = [first]
        switch payload.count {
        case ..<126: frame.append(mask | UInt8(payload.count))
        case ..<65_536: frame += [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
        default: frame += [mask | 127] + (0..<8).reversed().map { UInt8(payload.count >> (8 * $0) & 255) }
        }
        return frame + (isMasked ? [0, 0, 0, 0] : []) + payload
    }

    static func text(_ text: String) -> [UInt8] { frame(0x81, Array(text.utf8)) }

    func send(_ bytes: [UInt8]) { try? socket.write(bytes) }
    func send(text: String) { send(Self.text(text)) }
    func send(binary: [UInt8]) { send(Self.frame(0x82, binary)) }

    /// Ends the connection as it should be ended.
    func close() {
        send(Self.frame(0x88, [3, 232]))
        _ = end(milliseconds: 2_000)
    }

    // MARK: Receiving

    private func fill(milliseconds: Int) -> Bool {
        guard !isAtEnd, let bytes = socket.read(milliseconds: milliseconds) else { return false }
        if bytes.isEmpty {
            isAtEnd = true
            return false
        }
        if offset > 0 {
            buffer.removeFirst(offset)
            offset = 0
        }
        buffer += bytes
        return true
    }

    private func takeByte() -> UInt8? {
        if offset == buffer.count, !fill(milliseconds: 20_000) { return nil }
        offset += 1
        return buffer[offset - 1]
    }

    /// The next frame that comes within `milliseconds`, other than a ping.
    func next(milliseconds: Int = 20_000) -> Frame? {
        let limit = monotonicNanoseconds() + Int64(milliseconds) * 1_000_000
        while true {
            if let frame = takeFrame() {
                if frame.opcode != 9 { return frame }
                if answersPings { send(Self.frame(0x8a, frame.payload)) }
                continue
            }
            let left = max(Int((limit - monotonicNanoseconds()) / 1_000_000), 0)
            guard fill(milliseconds: left) else { return nil }
        }
    }

    private func takeFrame() -> Frame? {
        let bytes = buffer[offset...]
        guard bytes.count >= 2 else { return nil }
        var start = offset + 2
        var count = Int(buffer[offset + 1] & 0x7f)
        let wide = count == 126 ? 2 : count == 127 ? 8 : 0
        guard bytes.count >= 2 + wide else { return nil }
        if wide > 0 { count = buffer[start..<start + wide].reduce(0) { $0 << 8 | Int($1) } }
        start += wide
        guard buffer.count - start >= count else { return nil }
        let frame = Frame(opcode: buffer[offset] & 0x0f, payload: Array(buffer[start..<start + count]))
        offset = start + count
        return frame
    }

    /// How the connection ends within that time; everything else that comes is thrown away.
    func end(milliseconds: Int = 20_000) -> End {
        let limit = monotonicNanoseconds() + Int64(milliseconds) * 1_000_000
        while monotonicNanoseconds() < limit {
            let left = Int((limit - monotonicNanoseconds()) / 1_000_000)
            guard let frame = next(milliseconds: left) else { return isAtEnd ? .cut : .stillOpen }
            guard frame.opcode == 8 else { continue }
            send(Self.frame(0x88, Array(frame.payload.prefix(2))))
            return .closed(frame.payload.count < 2 ? 0 : Int(frame.payload[0]) << 8 | Int(frame.payload[1]))
        }
        return .stillOpen
    }

    // MARK: Speaking the protocol

    /// The next text as JSON that is no notification.
    func answer(milliseconds: Int = 20_000) -> JSONValue? {
        while let frame = next(milliseconds: milliseconds) {
            guard frame.opcode == 1, let value = try? JSONText.decode(frame.text, limit: 1 << 20) else {
                continue
            }
            if value["method"] == nil { return value }
        }
        return nil
    }

    /// Asks one thing; `params` is JSON.
    func ask(_ method: String, _ params: String? = nil) -> JSONValue? {
        requests += 1
        let members = params.map { #","params":\#($0)"# } ?? ""
        send(text: #"{"jsonrpc":"2.0","id":\#(requests),"method":"\#(method)"\#(members)}"#)
        while let answer = answer() { if answer["id"] == .integer(Int64(requests)) { return answer } }
        return nil
    }

    func activate(resume: String? = nil) -> JSONValue? {
        let token = resume.map { #","resume":"\#($0)""# } ?? ""
        return ask("route.activate", #"{"version":1,"sender":{"id":"hostile","name":"Hostile"}\#(token)}"#)
    }

    /// The reason of a refusal.
    static func reason(_ answer: JSONValue?) -> String? { answer?["error"]?["data"]?["reason"]?.textValue }
}
