// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Avahi
import GLibLoop
import LoopTestKit
import Testing

@Suite(
    .serialized, .timeLimit(.minutes(2)),
    .enabled(if: TwoHosts.missing == nil, "NOT RUN: needs root, iproute2, dbus-daemon, avahi-daemon, unshare")
)
struct TwoHostsTests {
    private let type = "_linnet-test._tcp"
    private let hosts = TwoHosts()

    init() async throws { try await hosts.start() }

    /// The parts of the next line that begins so.
    private func next(_ lines: Mailbox<String>, _ beginning: String) async -> [String] {
        let line = await lines.first { $0.hasPrefix(beginning) }
        return line?.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) ?? []
    }

    @Test func `a service is found from the other host, changes, and says goodbye`() async throws {
        let name = "Küche \"Süd\" ☕️.x"
        let publisher = try await hosts.probe(
            on: "a", "publish", name, type, "7380", "v=1", "id=42", "md=Linnet")
        #expect(await next(publisher.lines, "published") == ["published", name])
        let browser = try await hosts.probe(on: "b", "browse", type)
        let found = await next(browser.lines, "found\t\(name)\t")
        #expect(found.count == 8)
        #expect(found[2].hasSuffix("-a.local"))
        #expect(found[3] == "7380")
        #expect(found[5...] == ["v=1", "id=42", "md=Linnet"])
        #expect(await next(browser.lines, "all") == ["all"])

        await hosts.send("update\t\(name)\tv=2", to: publisher.number)
        let changed = await browser.lines.first { $0.hasPrefix("found\t\(name)") && $0.hasSuffix("\tv=2") }
        #expect(changed != nil)

        await hosts.send("update\tOther\tv=2", to: publisher.number)
        #expect(await next(publisher.lines, "published") == ["published", "Other"])
        // The old name goes and the new one comes, in any order.
        var seen: Set<String> = []
        while !seen.isSuperset(of: ["removed\t\(name)", "found\tOther"]) {
            guard let line = await browser.lines.first(where: { _ in true }) else { break }
            seen.insert(line.split(separator: "\t").prefix(2).joined(separator: "\t"))
        }

        await hosts.send("withdraw", to: publisher.number)
        #expect(await next(browser.lines, "removed") == ["removed", "Other"])
        await hosts.send("start", to: publisher.number)
        #expect(await next(browser.lines, "found").prefix(2) == ["found", "Other"])
    }

    @Test func `both families of addresses are found`() async throws {
        let browser = try await hosts.probe(on: "b", "browse", type)
        _ = await next(browser.lines, "all")
        _ = try await hosts.probe(on: "a", "publish", "Den", type, "7380")
        let both = await browser.lines.first {
            let parts = $0.split(separator: "\t")
            return parts.count >= 5 && parts[4].hasPrefix("10.77.0.1,[fe80::")
                && parts[4].hasSuffix("%25cable]")
        }
        #expect(both != nil)
    }

    @Test func `a name that another host has is changed, and both are found`() async throws {
        let first = try await hosts.probe(on: "a", "publish", "Den", type, "7380", "id=1")
        #expect(await next(first.lines, "published") == ["published", "Den"])
        // Until the hosts hear each other, there is no collision.
        let watcher = try await hosts.probe(on: "b", "browse", type)
        #expect(await next(watcher.lines, "found").prefix(2) == ["found", "Den"])
        let second = try await hosts.probe(on: "b", "publish", "Den", type, "7390", "id=2")
        // Usually the second one gives way; the first one, if both ask for the name at the same moment.
        let browser = try await hosts.probe(on: "a", "browse", type)
        var ports: [String: String] = [:]
        while ports["Den #2"] == nil || ports["Den"] == nil || ports["Den"] == ports["Den #2"],
            let line = await browser.lines.first(where: { $0.hasPrefix("found") })
        {
            let parts = line.split(separator: "\t").map(String.init)
            ports[parts[1]] = parts[3]
        }
        #expect(ports == ["Den": "7380", "Den #2": "7390"] || ports == ["Den": "7390", "Den #2": "7380"])
        let renamed = ports["Den #2"] == "7380" ? first : second
        #expect(await next(renamed.lines, "renamed") == ["renamed", "Den #2"])
        #expect(await next(renamed.lines, "published") == ["published", "Den #2"])
    }

    /// Its records stay known for an hour, but where the service is now the new host says.
    @Test func `the name of a host that is gone without a word leads to the host that takes it`() async throws
    {
        _ = try await hosts.probe(on: "a", "publish", "Den", type, "7380", "id=1")
        let browser = try await hosts.probe(on: "b", "browse", type)
        let before = await browser.lines.first {
            $0.hasPrefix("found\tDen\t") && $0.hasSuffix("\tid=1") && $0.split(separator: ",").count == 2
        }
        #expect(before != nil)
        try await hosts.turn("avahi", of: "a", "kill")
        _ = try await hosts.probe(on: "b", "publish", "Den", type, "7390", "id=2")
        let after = await browser.lines.first {
            let parts = $0.split(separator: "\t")
            return parts.count == 6 && parts[3] == "7390" && parts[5] == "id=2"
                && parts[4].hasPrefix("10.77.0.2,[fe80::")
        }
        #expect(after != nil)
    }

    @Test func `a service is published again when the daemon comes back`() async throws {
        let publisher = try await hosts.probe(on: "a", "publish", "Den", type, "7380")
        #expect(await next(publisher.lines, "published") == ["published", "Den"])
        try await hosts.turn("avahi", of: "a", "stop")
        #expect(await next(publisher.lines, "lost").first == "lost")
        #expect(await next(publisher.lines, "waiting") == ["waiting"])
        try await hosts.turn("avahi", of: "a", "start")
        #expect(await next(publisher.lines, "published") == ["published", "Den"])
    }

    @Test func `a service is published again when the bus comes back`() async throws {
        let publisher = try await hosts.probe(on: "a", "publish", "Den", type, "7380")
        #expect(await next(publisher.lines, "published") == ["published", "Den"])
        let browser = try await hosts.probe(on: "a", "browse", type)
        _ = await next(browser.lines, "found")
        try await hosts.turn("bus", of: "a", "stop")
        // Once by the daemon's end, once by the start that failed.
        #expect(await next(publisher.lines, "lost").first == "lost")
        #expect(await next(publisher.lines, "lost").first == "lost")
        #expect(await next(browser.lines, "lost").first == "lost")
        try await hosts.turn("avahi", of: "a", "stop")
        try await hosts.turn("bus", of: "a", "start")
        try await hosts.turn("avahi", of: "a", "start")
        #expect(await next(publisher.lines, "published") == ["published", "Den"])
        #expect(await next(browser.lines, "found").prefix(2) == ["found", "Den"])
    }
}
