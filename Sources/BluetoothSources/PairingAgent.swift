// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import DBus

/// The object that BlueZ asks whether a device may pair and play. Only the owner of BlueZ's name is listened to; anybody on the bus
/// could call it.
final class PairingAgent {
    static let interface = """
        <node><interface name="org.bluez.Agent1">
        <method name="Release"/>
        <method name="RequestPinCode">
        <arg type="o" direction="in"/><arg type="s" direction="out"/>
        </method>
        <method name="DisplayPinCode"><arg type="o" direction="in"/><arg type="s" direction="in"/></method>
        <method name="RequestPasskey">
        <arg type="o" direction="in"/><arg type="u" direction="out"/>
        </method>
        <method name="DisplayPasskey">
        <arg type="o" direction="in"/><arg type="u" direction="in"/><arg type="q" direction="in"/>
        </method>
        <method name="RequestConfirmation"><arg type="o" direction="in"/><arg type="u" direction="in"/></method>
        <method name="RequestAuthorization"><arg type="o" direction="in"/></method>
        <method name="AuthorizeService"><arg type="o" direction="in"/><arg type="s" direction="in"/></method>
        <method name="Cancel"/>
        </interface></node>
        """

    /// The unique name of BlueZ's connection.
    var bluez: String?
    private let take: (BluetoothState.Event) -> Void
    private var waiting: [Int: Invocation] = [:]
    private var count = 0

    /// More questions than this are refused while the first wait.
    private static let limit = 16

    init(_ take: @escaping (BluetoothState.Event) -> Void) { self.take = take }

    func answer(_ number: Int, _ isRight: Bool) {
        guard let invocation = waiting.removeValue(forKey: number) else { return }
        if isRight { invocation.answer() } else { Self.refuse(invocation) }
    }

    /// Drops all questions.
    func forget() { waiting = [:] }

    func called(_ invocation: Invocation) {
        guard invocation.sender == bluez else {
            return invocation.refuse("org.freedesktop.DBus.Error.AccessDenied", "only BlueZ may ask")
        }
        let arguments = invocation.arguments
        switch (invocation.method, arguments.first?.text, arguments.dropFirst().first) {
        case ("RequestConfirmation", .some(let device), .uint32(let passkey)):
            ask(invocation, device, .confirmation(passkey: passkey))
        case ("RequestAuthorization", .some(let device), _): ask(invocation, device, .authorization)
        case ("AuthorizeService", .some(let device), .some(let uuid)):
            ask(invocation, device, .service(uuid: uuid.text ?? ""))
        case ("Cancel", _, _):
            invocation.answer()
            take(.agentCancelled)
        case ("Release", _, _):
            invocation.answer()
            take(.agentReleased)
        // A receiver has no keys to type a number with, and one that is the same for all protects nobody.
        default: Self.refuse(invocation)
        }
    }

    private func ask(_ invocation: Invocation, _ device: String, _ kind: BluetoothState.AgentRequest.Kind) {
        guard waiting.count < Self.limit else { return Self.refuse(invocation) }
        count += 1
        waiting[count] = invocation
        take(.agentAsked(BluetoothState.AgentRequest(number: count, device: device, kind: kind)))
    }

    private static func refuse(_ invocation: Invocation) {
        invocation.refuse("org.bluez.Error.Rejected", "refused")
    }
}
