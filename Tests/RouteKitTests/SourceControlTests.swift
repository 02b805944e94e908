// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteWire
import Testing

@testable import RouteKit
@testable import linnet

private let phone = "A0:B1:C2:D3:E4:F5"
private let laptop = "A0:B1:C2:D3:E4:F6"

private func document(primary: String? = phone, secondary: String? = nil) -> AccessoryDocument {
    var document = AccessoryDocument(capabilities: ["audioSwitching", "placement"], placement: "onHead")
    document.sources[phone] = SourceDocument(
        kind: "bluetooth", name: "Phone", state: "playing", title: "So What")
    if secondary != nil {
        document.sources[laptop] = SourceDocument(
            kind: "bluetooth", name: "Laptop\u{1b}[2J", state: "paused", preference: "preferred")
    }
    (document.primary, document.secondary, document.active) = (primary, secondary, primary)
    document.decisions = [
        DecisionDocument(
            number: 1, moment: 0, outcome: "heard", reason: "started", message: "It started.", source: phone,
            name: "Phone", previous: nil)
    ]
    document.bluetooth = "ready"
    return document
}

@RouteActor struct SourceControlTests {
    private func route(_ receiver: ScriptedReceiver) async throws -> Route {
        let controller = RouteController(sender: SenderIdentity(name: "Test"), timing: patientTiming)
        return try await controller.activate(receiver.receiver)
    }

    private static func answer(_ primary: String?, _ secondary: String? = nil) -> ScriptedReceiver.Reply {
        .result(
            AccessoryAnswer(
                registration: "r1", capabilities: ["audioSwitching"], placement: nil, primary: primary,
                secondary: secondary
            ).json)
    }

    @Test func `sources are shown in the order of hearing, with who is heard and why`() async throws {
        let receiver = try ScriptedReceiver()
        let route = try await route(receiver)
        #expect(route.sources.state == nil)
        let updates = route.sources.updates()
        receiver.change { $0.accessory = document(primary: laptop, secondary: phone) }
        #expect(await reached(updates) { route.sources.state != nil })
        let state = try #require(route.sources.state)
        #expect(state.sources.map(\.id) == [laptop, phone])
        #expect(state.active?.id == laptop && state.active?.preference == .preferred)
        #expect(state.capabilities == [.audioSwitching, .placement])
        #expect(state.placement == .onHead)
        #expect(state.decisions.map(\.reason) == ["started"])
        #expect(state.bluetoothFault == nil)
    }

    @Test func `a registered device follows connections and placement as far as it was registered`()
        async throws
    {
        let receiver = try ScriptedReceiver()
        receiver.replies["accessory.register"] = { _ in Self.answer(phone) }
        let route = try await route(receiver)
        let device = try await AccessoryDevice.register(route, capabilities: [.audioSwitching])
        #expect(device.configuration.primarySourceIdentifier == [0xA0, 0xB1, 0xC2, 0xD3, 0xE4, 0xF5])
        #expect(device.configuration.secondarySourceIdentifier == nil)
        let updates = device.updates()
        receiver.change { $0.accessory = document(primary: laptop, secondary: phone) }
        #expect(await reached(updates) { device.configuration.secondarySourceIdentifier != nil })
        #expect(device.configuration.primarySourceIdentifier == [0xA0, 0xB1, 0xC2, 0xD3, 0xE4, 0xF6])
        // The placement was not registered.
        #expect(device.configuration.placement == nil)
    }

    @Test func `what a receiver cannot do, and what it has forgotten, is told apart`() async throws {
        let receiver = try ScriptedReceiver()
        receiver.replies["accessory.register"] = { request in
            if case .accessory(.register(["audioSwitching"])) = request { return Self.answer(nil) }
            return .refusal(RouteError(.accessoryNotCapable, "no"))
        }
        receiver.replies["accessory.current"] = { _ in .refusal(RouteError(.invalidated, "gone")) }
        receiver.replies["accessory.update"] = { _ in .refusal(RouteError(.invalidRequest, "nothing")) }
        let route = try await route(receiver)
        await #expect(throws: RoutingError(.accessoryNotCapable, family: .session, "")) {
            try await AccessoryDevice.register(route, capabilities: [.headTracking])
        }
        let device = try await AccessoryDevice.register(route, capabilities: [.audioSwitching])
        await #expect(throws: RoutingError(.invalidated, family: .session, "")) {
            try await AccessoryDevice.current(for: device)
        }
        await #expect(throws: RoutingError(.invalidRequest, family: .connection, "")) {
            try await device.update()
        }
    }

    @Test func `commands name sources by their addresses`() async throws {
        let receiver = try ScriptedReceiver()
        let accepted: (RouteRequest) -> ScriptedReceiver.Reply = { _ in .result(["outcome": "accepted"]) }
        let names = ["take", "yield", "prefer", "forget", "pair", "confirm", "disconnect"]
        for name in names { receiver.replies["sources.\(name)"] = accepted }
        let route = try await route(receiver)
        try await route.sources.take(phone)
        try await route.sources.yield()
        try await route.sources.prefer(phone, .manual)
        try await route.sources.forget(phone)
        try await route.sources.pair(for: 7)
        try await route.sources.stopPairing()
        try await route.sources.confirm(phone, true)
        try await route.sources.disconnect(phone)
        let asked = receiver.asked.compactMap {
            if case .accessory(let request) = $0.request { request } else { nil }
        }
        #expect(
            asked == [
                .take(phone), .yield(nil), .prefer(phone, .manual), .forget(phone), .pair(seconds: 7),
                .pair(seconds: 0), .confirm(phone, true), .disconnect(phone),
            ])
    }

    @Test func `sources are printed for people without what would move their cursor`() throws {
        let text = SourcesText.text(AccessoryState(document(primary: phone, secondary: laptop)), false)
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines[0].hasPrefix("▶ Phone"))
        #expect(lines[0].hasSuffix("\(phone)  bluetooth, playing, primary, “So What”"))
        #expect(lines[1].hasSuffix("bluetooth, paused, secondary, preferred"))
        #expect(!text.unicodeScalars.contains("\u{1b}"))
        #expect(lines.last == "  Phone heard: It started.")
        #expect(SourcesText.text(nil, true) == "null")
    }
}
