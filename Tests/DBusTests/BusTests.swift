// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import DBus
import GLibLoop
import Glibc
import LoopTestKit
import Testing

@Suite(
    .timeLimit(.minutes(3)), .serialized,
    .enabled(if: BusStage.missing == nil, "NOT RUN: needs dbus-daemon, python3, python3-dbus, python3-gi"))
struct BusTests {
    private let stage = BusStage()

    init() async throws { try await stage.start() }

    @Test(arguments: [
        Value.boolean(true), .byte(7), .int16(-3), .uint16(65535), .int32(-70_000), .uint32(4_000_000_000),
        .int64(-1 << 40), .uint64(1 << 63), .double(0.25), .string("Küche ☕️"), .string(""),
        .objectPath("/a/b"),
        .bytes([0, 1, 255]), .strings(["a", "", "ü"]), .strings([]), .dictionary([:]),
        .dictionary(["a": .uint16(1), "b": .strings(["x"]), "c": .dictionary(["d": .boolean(false)])]),
        .tuple([.int32(1), .string("two")]), .array([.int32(1), .int32(2)]),
        .array([.tuple([.objectPath("/"), .double(1)])]),
    ]) func `a value comes back as it was sent`(value: Value) async throws {
        let answer = await stage.value(of: "Echo", .variant(value))
        #expect(try answer.get() == value)
    }

    @Test func `a value is on the wire what its case says`() async throws {
        #expect(try await stage.value(of: "Kind", .variant(.uint16(3))).get() == .string("UInt16"))
        #expect(
            try await stage.value(of: "Kind", .variant(.dictionary([:]))).get() == .string("Dictionary sv"))
        #expect(try await stage.value(of: "Kind", .variant(.objectPath("/x"))).get() == .string("ObjectPath"))
        #expect(try await stage.value(of: "Kind", .variant(.strings([]))).get() == .string("Array s"))
    }

    @Test func `a path that is none becomes the root, and text with a zero ends there`() async throws {
        #expect(try await stage.value(of: "Echo", .variant(.objectPath("a//"))).get() == .objectPath("/"))
        #expect(try await stage.value(of: "Echo", .variant(.string("a\u{0}b"))).get() == .string("a"))
    }

    @Test func `a refusal has the name and the words of the other side`() async {
        let failure = await stage.call("Refuse").failure
        #expect(failure == CallFailure(name: "org.linnet.test.Refused", message: "not today"))
    }

    @Test func `a call that is not answered ends by its time limit`() async {
        let failure = await stage.call("Sleep", timeout: .milliseconds(200)).failure
        #expect(failure?.isTimeout == true)
    }

    @Test func `a call of a service that is not there fails and starts none`() async {
        let failure = await stage.failure(of: "org.linnet.nobody", "/", "org.linnet.test", "Echo")
        let names = ["ServiceUnknown", "NameHasNoOwner"].map { "org.freedesktop.DBus.Error.\($0)" }
        #expect(names.contains(failure?.name ?? ""))
    }

    @Test(arguments: [
        ("no name", "/", "org.linnet.test", "Echo"), ("org.linnet.test", "x", "org.linnet.test", "Echo"),
        ("org.linnet.test", "/", "test", "Echo"), ("org.linnet.test", "/", "org.linnet.test", "no method"),
    ]) func `names that no bus allows are refused here`(
        name: String, path: String, interface: String, method: String
    ) async {
        let failure = await stage.failure(of: name, path, interface, method)
        #expect(failure?.name == "org.freedesktop.DBus.Error.InvalidArgs")
    }

    @Test func `more calls than may wait are refused, and room comes back`() async {
        let refused = await stage.flood(Bus.maximumCalls + 1)
        #expect(refused == "org.freedesktop.DBus.Error.LimitsExceeded")
        #expect(await stage.call("Refuse").failure?.name == "org.linnet.test.Refused")
    }

    @Test func `an answer beyond the bounds is not read`() async throws {
        #expect(try await stage.call("Many", .uint32(1000)).get().first?.strings?.count == 1000)
        #expect(
            await stage.call("Many", .uint32(UInt32(Value.Bounds.values))).failure?.message
                == "the answer is too large")
        #expect(try await stage.call("Deep", .uint32(3)).get().first != nil)
        #expect(await stage.call("Deep", .uint32(20)).failure?.message == "the answer is too large")
    }

    @Test func `descriptors come with an answer, and those nobody takes are closed`() async throws {
        let (text, isTakenTwice) = try await stage.pipes("hello")
        #expect(text == "hello")
        #expect(!isTakenTwice)
        #expect(await stage.line { $0 == "closed" } == "closed")
    }

    @Test func `an object of ours is called, read and refused`() async throws {
        try await stage.exportCallee()
        #expect(try await stage.callBack("Answer", .int32(5)).get() == .int32(5))
        #expect(try await stage.callBack("Later", .int32(6)).get() == .int32(6))
        #expect(try await stage.callBack("Refuse", .int32(0)).get() == .string("org.linnet.test.No"))
        #expect(
            try await stage.callBack("Forget", .int32(0)).get()
                == .string("org.freedesktop.DBus.Error.Failed"))
        #expect(
            try await stage.callBack("Nothing", .int32(0)).get()
                == .string("org.freedesktop.DBus.Error.UnknownMethod"))
        #expect(await stage.calleeSenders == 4)
    }

    @Test func `the end of the bus is told once`() async throws {
        let ends = Mailbox<String>()
        await stage.onBus { bus in bus.whenClosed { ends.put($0) } }
        await stage.killBus()
        #expect(await ends.next() != nil)
        #expect(await stage.call("Refuse").failure != nil)
    }

    @Test func `a bus that is not there, or does not speak, is an attempt that fails`() async throws {
        #expect(await stage.connect(to: "unix:path=/nonexistent/bus") != nil)
        #expect(await stage.connect(to: "no address at all") != nil)
        // A socket that takes connections and says nothing.
        let silent = try #require(SilentSocket())
        let failure = await stage.connect(to: silent.address, within: .milliseconds(200))
        #expect(failure == .timedOut)
    }
}

/// Listens and never answers.
final class SilentSocket: Sendable {
    private let descriptor: Int32
    private let name: String
    var address: String { "unix:abstract=\(name)" }

    init?() {
        name = "linnet-silent-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = [0] + Array(name.utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(2 + bytes.count)
        let isBound = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, length) == 0
            }
        }
        guard isBound, listen(descriptor, 8) == 0 else { return nil }
    }

    deinit { close(descriptor) }
}
