// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteKit
import Settings

extension Verb {
    static let doctor = Verb(
        name: "doctor", arguments: "[FILE]", summary: "Checks what is needed to play, and says what to do.",
        options: [
            .init("bundle", "b", .flag, "Write what this machine says of itself to FILE, without secrets.")
        ],
        examples: [
            ("linnet doctor", "Checks discovery and every receiver that it finds."),
            ("linnet doctor --on 192.168.1.20", "Checks one that discovery does not find."),
            ("linnet doctor --bundle", "On the receiver, as root: logs, versions and state in one file."),
        ]
    ) { invocation in
        if invocation.has("bundle") {
            let path = try invocation.words(0, 1).first ?? "linnet-diagnostics.tar.gz"
            try await DiagnosticsBundle().write(to: path)
            print("\(path) has what to send. Read it first: names of networks, media and devices are in it.")
            return .success
        }
        _ = try invocation.words(0, 0)
        var report = Report()
        var receivers = await checkDiscovery(&report, isNeeded: invocation.on == nil)
        if let wanted = invocation.on {
            do {
                receivers = [try await Finder.receiver(wanted)]
            } catch {
                report.bad(CommandFailure(error, at: nil).message)
                receivers = []
            }
        }
        for receiver in receivers { await check(receiver, &report) }
        report.conclude(foundAny: !receivers.isEmpty)
        return receivers.isEmpty ? .receiverNotFound : (report.isHealthy ? .success : .failure)
    }
}

/// What was found, printed as it comes.
private struct Report {
    private(set) var isHealthy = true

    func good(_ text: String) { print("  ok    \(text)") }
    func note(_ text: String, _ advice: String? = nil) { line("note", text, advice) }
    /// `isFatal` false: it is in nobody's way.
    mutating func bad(_ text: String, _ advice: String? = nil, isFatal: Bool = true) {
        if isFatal { isHealthy = false }
        line(isFatal ? "BAD" : "note", text, advice)
    }
    func title(_ text: String) { print("\(text)") }

    func conclude(foundAny: Bool) {
        if isHealthy, foundAny { return print("Everything is fine. Try: linnet play FILE") }
        print(
            foundAny
                ? "Something is wrong; see what follows BAD above."
                : "No receiver to look at. On the receiver: systemctl status linnetd, linnetd --self-test.")
    }

    private func line(_ mark: String, _ text: String, _ advice: String?) {
        print("  \(mark)\(String(repeating: " ", count: 6 - mark.count))\(text)")
        if let advice { print("        → \(advice)") }
    }
}

@RouteActor private func checkDiscovery(
    _ report: inout Report, isNeeded: Bool
) async -> [Receiver] {
    report.title("Discovery")
    do {
        let receivers = try await Finder.all(within: .seconds(2))
        report.good("Avahi's daemon answers")
        if receivers.isEmpty {
            report.bad(
                "no receiver announces itself",
                "Is it on? Same network? Access points with client isolation and firewalls that drop UDP 5353 hide it.",
                isFatal: isNeeded)
        } else {
            report.good(
                "\(receivers.count) found: \(receivers.map { "'\(TerminalText.clean($0.displayName))'" }.joined(separator: ", "))"
            )
        }
        return receivers
    } catch {
        report.bad(
            CommandFailure(error, at: nil).message,
            "apt install avahi-daemon; systemctl start avahi-daemon. --on HOST[:PORT] works without.",
            isFatal: isNeeded)
        // One on this machine needs no discovery.
        if let local = try? await Receiver.at(.init(host: "127.0.0.1", port: Receiver.defaultPort)) {
            report.note("a receiver answers on this machine")
            return [local]
        }
        return []
    }
}

@RouteActor private func check(_ receiver: Receiver, _ report: inout Report) async {
    report.title("\(TerminalText.clean(receiver.displayName)) (\(receiver.id))")
    guard await checkAddresses(receiver, &report) else { return }
    let began = ContinuousClock.now
    do {
        let connection = try await ReceiverConnection.open(receiver)
        defer { connection.close() }
        report.good("connected in \(milliseconds(ContinuousClock.now - began)), full state received")
        for _ in 0..<100 where connection.clockOffset == nil {
            try? await Task.sleep(for: .milliseconds(10))
        }
        if let offset = connection.clockOffset {
            report.good("its clock is read: offset \(offset / 1_000_000) ms to ours")
        } else {
            report.bad("its clock could not be read", "Positions will be off by the time the network takes.")
        }
        checkOutput(connection.device, &report)
        checkConfinement(connection.device, &report)
        checkAdvertisement(connection.device, &report)
        checkStorage(connection.device, &report)
        let device = connection.device
        if device.isMuted || device.volume == 0 {
            report.note(
                "it is silent: \(device.isMuted ? "muted" : "volume 0")", "linnet volume 40; linnet mute off")
        }
    } catch {
        report.bad(
            "no connection: \(CommandFailure(error, at: nil).message)",
            "A proxy or a firewall that lets HTTP pass but no WebSocket looks like this.")
    }
}

@RouteActor private func checkAddresses(_ receiver: Receiver, _ report: inout Report) async -> Bool {
    var answers = false
    for address in receiver.addresses {
        do {
            let began = ContinuousClock.now
            let found = try await Receiver.at(address)
            let time = milliseconds(ContinuousClock.now - began)
            guard found.id == receiver.id else {
                report.bad(
                    "at \(address) answers another receiver, \(found.id)", "An old address; try again soon.")
                continue
            }
            answers = true
            report.good("\(address) answers in \(time): \(TerminalText.clean(found.software ?? found.model))")
            let versions = found.protocolVersions.map { String($0) }.joined(separator: ", ")
            if !found.isCompatible {
                report.bad("it speaks protocol version \(versions), we speak 1", "Update the older of both.")
            }
        } catch {
            let words = CommandFailure(error, at: nil).message
            if receiver.addresses.count > 1 {
                report.note(words)
            } else {
                report.bad(words, "Does a firewall at the receiver block TCP \(address.port)?")
            }
        }
    }
    if !answers { report.bad("it announces itself and answers at none of its addresses") }
    return answers
}

@RouteActor private func checkOutput(_ device: DeviceControl, _ report: inout Report) {
    let text = "output: \(StatusText.output(device.output))"
    switch device.output.state {
    case .open, .closed: report.good(text)
    case .null: report.note(text, "Give it a sound card, or set [output] device in receiver.conf.")
    case .busy: report.bad(text, "End what holds the device; the receiver takes it as soon as it is free.")
    case .lost: report.bad(text, "Is the device plugged in? `aplay -l` on the receiver lists what there is.")
    default: report.note(text)
    }
}

@RouteActor private func checkStorage(_ device: DeviceControl, _ report: inout Report) {
    guard let fault = device.storageFault else { return }
    report.bad(
        "name and volume cannot be saved: \(TerminalText.clean(fault))",
        "Is the disk of the receiver full, or read-only? It tries again by itself.")
}

@RouteActor private func checkConfinement(_ device: DeviceControl, _ report: inout Report) {
    guard let layers = device.confinement else { return }
    let text = "decoder: \(StatusText.confinement(layers))"
    guard layers.contains(where: { !$0.isOn }) else { return report.good(text) }
    report.note(
        text, "A broken or hostile item can do more harm there; the receiver's journal has the reasons.")
}

@RouteActor private func checkAdvertisement(_ device: DeviceControl, _ report: inout Report) {
    guard let advertisement = device.advertisement else { return }
    switch advertisement.state {
    case "registered": report.good("announced as '\(TerminalText.clean(advertisement.name))'")
    case "waiting":
        report.bad("not announced yet", "Is avahi-daemon running on the receiver?")
    case "off":
        report.note(
            "its announcement is switched off", "[network] advertise = yes in receiver.conf switches it on.")
    default: report.bad("its announcement failed", "See the receiver's journal: journalctl -u linnetd.")
    }
}

private func milliseconds(_ duration: Duration) -> String {
    "\(ProgressLine.short((duration / .milliseconds(1) * 10).rounded() / 10)) ms"
}
