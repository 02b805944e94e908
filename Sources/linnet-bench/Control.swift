// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteKit
import SystemProbe

/// `control`: from a sender's command to the push that another sender sees, with few and with many observers.
func benchControl(_ bench: Workspace, quick: Bool, report: (Figure) -> Void) async {
    for (observers, limit) in [(1, 5.0), (quick ? 50 : 200, 50.0)] {
        var samples = Samples()
        var problem: String?
        do {
            let ours = try Ours(bench, device: "null")
            samples = try await measureControl(port: ours.port, observers: observers, tries: quick ? 50 : 300)
            await ours.shutDown()
        } catch { problem = "\(error)" }
        for (name, part, reach) in [
            ("p50", 0.5, Figure.Reach.report), ("p99", 0.99, .atMost(limit)),
        ] {
            var figure = Figure(
                bench: "control", figure: "\(name) with \(observers) observer\(observers == 1 ? "" : "s")",
                unit: "ms", ours: Samples(samples.quantile(part).map { [$0] } ?? []), reach: reach)
            if let problem { figure.missing = [("linnet", problem)] }
            report(figure)
        }
    }
}

/// Sets the device's volume `tries` times and waits each time until the last of the observers has seen it.
@RouteActor private func measureControl(port: UInt16, observers: Int, tries: Int) async throws -> Samples {
    let receiver = try await Receiver.at(Receiver.Address(host: "127.0.0.1", port: port))
    let sender = try await RouteController.shared.activate(receiver)
    var connections: [ReceiverConnection] = []
    for _ in 0..<observers { connections.append(try await ReceiverConnection.open(receiver)) }
    var samples = Samples()
    for number in 0..<tries {
        let wanted = number % 2 == 0 ? 0.25 : 0.5
        // The observers listen before the command is sent.
        let streams = connections.map { ($0, $0.updates()) }
        let start = monotonicNanoseconds()
        _ = try await sender.device.perform(.setVolume(wanted))
        for (connection, updates) in streams where connection.device.volume != wanted {
            for await _ in updates where connection.device.volume == wanted { break }
        }
        samples.add(Double(monotonicNanoseconds() - start) / 1e6)
    }
    for connection in connections { connection.close() }
    await RouteController.shared.deactivate(sender)
    return samples
}
