// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ReceiverTestKit
import RouteKit
import Settings

/// A turntable at the line-in: a simulated capture device, which is silent until the needle is down.
struct Turntable {
    /// Options of a receiver that has it at its line-in, and is quick to notice that it ends.
    static let settings = [
        "--line-in", "Turntable=turntable", "--line-in-hold-seconds", "0.5", "--switch-hold-seconds", "1",
    ]
    static let hertz = 500.0

    let card: SimulatedCard
    private var quiet: String { "\(card.folder)/turntable.quiet" }

    init(at card: SimulatedCard) { self.card = card }

    /// Adds the device to the configuration of the card.
    func connect() throws {
        let plugin = "\(Programs.build)/support/libasound_module_pcm_simadc.so"
        let path = "\(card.folder)/asound.conf"
        let text = """
            pcm_type.simadc { lib "\(plugin)" }
            pcm.turntable { type simadc path "\(card.folder)/turntable" tone \(Int(Self.hertz)) }

            """
        try FileSystem.write(try FileSystem.read(path, maximum: 1 << 20) + Array(text.utf8), to: path)
        try lift()
    }

    func lift() throws { try FileSystem.write([], to: quiet) }
    func lower() throws { try FileSystem.remove(quiet) }
}

extension ReceiverUnderTest {
    /// Waits until a source of this kind has the output and nothing else; nil: none has.
    func hears(_ kind: String?) async throws {
        let isSo = await Programs.poll(within: .seconds(40)) {
            self.route.sources.state?.active?.kind == kind
        }
        guard isSo else {
            let state = route.sources.state
            throw TestFailure(
                "\(kind ?? "nothing") should be heard: \(String(describing: state?.sources)), "
                    + "\(String(describing: state?.decisions))")
        }
    }
}
