// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import DBus
import GLibLoop
import Glibc
import Testing

extension BusStage {
    func onBus(_ body: @Sendable (Bus) -> Void) { if let bus { body(bus) } }

    func calling(
        _ body: (Bus, @escaping (Result<Bus.Reply, CallFailure>) -> Void) -> Void
    ) async -> Result<Bus.Reply, CallFailure> {
        await withCheckedContinuation { continuation in
            if let bus { body(bus) { continuation.resume(returning: Staying(value: $0)) } }
        }.value
    }

    /// Why a call of something was refused.
    func failure(of name: String, _ path: String, _ interface: String, _ method: String) async -> CallFailure?
    {
        await calling { $0.call(name, path, interface, method, reply: $1) }.failure
    }

    /// Makes `count` calls that are never answered, waits until all have ended, and says how the first did.
    func flood(_ count: Int) async -> String? {
        await withCheckedContinuation { continuation in
            var ends: [String?] = []
            for _ in 0..<count {
                bus?.call("org.linnet.test", "/", "org.linnet.test", "Sleep", timeout: .milliseconds(500)) {
                    ends.append($0.failure?.name)
                    if ends.count == count { continuation.resume(returning: ends[0]) }
                }
            }
        }
    }

    /// What the first of two pipes held, and whether its handle could be taken twice; nobody takes the second.
    func pipes(_ text: String) async throws -> (String, isTakenTwice: Bool) {
        let reply = try await calling {
            $0.call("org.linnet.test", "/", "org.linnet.test", "Pipes", [.string(text)], reply: $1)
        }.get()
        #expect(reply.descriptors.count == 2)
        let place = reply[0]?.handle
        guard let descriptor = reply.descriptors.take(place) else { return ("nothing", false) }
        let isTakenTwice = reply.descriptors.take(place)?.number != nil
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(descriptor.number, &bytes, bytes.count)
        return (String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self), isTakenTwice)
    }

    private static let callee = """
        <node><interface name="org.linnet.test.Callee">
        <method name="Answer"><arg type="v" direction="in"/><arg type="v" direction="out"/></method>
        <method name="Later"><arg type="v" direction="in"/><arg type="v" direction="out"/></method>
        <method name="Refuse"><arg type="v" direction="in"/></method>
        <method name="Forget"><arg type="v" direction="in"/></method>
        <property name="Name" type="s" access="read"/>
        </interface></node>
        """

    func exportCallee() throws {
        let senders = self.senders
        try bus?.export("/callee", xml: Self.callee) { invocation in
            if !invocation.sender.isEmpty { senders.count += 1 }
            switch invocation.method {
            case "Answer": invocation.answer(.variant(invocation.arguments[0]))
            case "Later":
                EventSource.once(after: .zero) { invocation.answer(.variant(invocation.arguments[0])) }
            case "Refuse": invocation.refuse("org.linnet.test.No", "no")
            default: break
            }
        }
    }

    var calleeSenders: Int { senders.count }

    func callBack(_ method: String, _ value: Value) async -> Result<Value?, CallFailure> {
        await call("CallBack", .objectPath("/callee"), .string(method), .variant(value)).map(\.first)
    }
}

final class Count {
    var count = 0
}
