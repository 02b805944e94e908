// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import DBus
import LoopTestKit
import Testing

@Suite(
    .timeLimit(.minutes(3)), .serialized,
    .enabled(if: BusStage.missing == nil, "NOT RUN: needs dbus-daemon, python3, python3-dbus, python3-gi"))
struct RemoteObjectsTests {
    private let stage = BusStage()
    private let events = Mailbox<RemoteObjects.Event>()
    private let thing = "org.linnet.test.Thing"

    init() async throws { try await stage.start() }

    private func watch(_ service: String = "org.linnet.test") async {
        await stage.run { [events] stage in
            guard let bus = stage.bus else { return }
            stage.keep(RemoteObjects(bus, service: service, manager: "/") { events.put($0) })
        }
    }

    private func isAppearance(_ event: RemoteObjects.Event?) -> Bool {
        if case .appeared = event { true } else { false }
    }

    @Test func `objects come, change and go`() async {
        await stage.tell("add /one 1")
        // What is answered after it has seen the line.
        _ = await stage.call("Refuse")
        await watch()
        #expect(isAppearance(await events.next()))
        #expect(await events.next() == .added(path: "/one", interface: thing, ["Value": .string("1")]))
        #expect(await events.next() == .listed)
        await stage.tell("add /two 2")
        #expect(await events.next() == .added(path: "/two", interface: thing, ["Value": .string("2")]))
        await stage.tell("change /two 3")
        #expect(
            await events.next()
                == .changed(path: "/two", interface: thing, ["Value": .string("3")], invalidated: ["Other"]))
        await stage.tell("remove /one")
        #expect(await events.next() == .removed(path: "/one", interface: thing))
    }

    @Test func `a service that is killed and comes back is told as gone and there`() async throws {
        await watch()
        _ = await events.first { $0 == .listed }
        try await stage.killService()
        #expect(await events.next() == .gone)
        try await stage.startService()
        #expect(isAppearance(await events.next()))
        #expect(await events.next() == .listed)
        await stage.tell("add /one 1")
        #expect(await events.next() == .added(path: "/one", interface: thing, ["Value": .string("1")]))
    }

    @Test func `a service that is not there is told, too`() async {
        await watch("org.linnet.nobody")
        #expect(await events.next() == .gone)
    }

    @Test func `a service without a manager is one whose objects are not listed`() async {
        await stage.run { stage in stage.bus?.requestName("org.linnet.bare") }
        await watch("org.linnet.bare")
        #expect(isAppearance(await events.next()))
        guard case .notListed(let failure) = await events.next() else {
            Issue.record("it was listed")
            return
        }
        #expect(failure.name == "org.freedesktop.DBus.Error.UnknownMethod")
    }
}

extension Bus {
    /// Takes a name for this connection.
    func requestName(_ name: String) {
        call(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
            [.string(name), .uint32(0)]
        ) { _ in }
    }
}

extension BusStage {
    func run(_ body: @Sendable (isolated BusStage) -> Void) { body(self) }
}
