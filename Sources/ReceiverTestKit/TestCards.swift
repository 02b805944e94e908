// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Simulated cards for tests that play within the test's own process. alsa-lib reads one configuration in a process, so
/// all of them stand in one; each test takes a card of its own.
package enum TestCards {
    /// The kinds of cards that there are.
    package enum Kind: Int, CaseIterable, Sendable {
        case usual
        /// It cannot pause.
        case unpausable
        /// It plays 44.1 and 48 kHz, in 16 and 32 bits.
        case versatile
        /// Its clock is 50 ppm fast.
        case fast
        /// So is that of this one, and its position moves in steps of 1 ms.
        case stepping
        /// Its clock is 30 ppm slow, and its position moves in steps of 5 ms.
        case coarse
        /// It plays 96 kHz only.
        case high

        fileprivate var settings: String {
            switch self {
            case .usual: ""
            case .unpausable: "pausable 0"
            case .fast: "ppm 50"
            case .stepping: "ppm 50 granularity 48"
            case .coarse: "ppm -30 granularity 240"
            case .high: "rates \"96000\" ppm 50"
            case .versatile: "formats \"S16_LE S32_LE\" rates \"44100 48000\""
            }
        }
    }

    private static let perKind = 256
    private static let taken = Mutex<[Kind: Int]>([:])

    /// The folder with the configuration, made and put into the environment at first use.
    private static let folder: String? = {
        var template = Array("/tmp/linnet-cards-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { return nil }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var text = "</usr/share/alsa/alsa.conf>\npcm_type.simdac { lib \"\(SimulatedCard.plugin)\" }\n"
        text += SimulatedMicrophone.types
        for number in 0..<perKind {
            text += SimulatedMicrophone.device("mic\(number)", path: "\(folder)/mic\(number)")
            text += "ctl.jack\(number) { type simdac path \"\(folder)/jack\(number)\" jack 1 }\n"
        }
        for kind in Kind.allCases {
            for number in kind.rawValue * perKind..<(kind.rawValue + 1) * perKind {
                text += "pcm.sim\(number) { type simdac path \"\(folder)/sim\(number)\" \(kind.settings) }\n"
            }
        }
        let path = "\(folder)/asound.conf"
        guard (try? SimulatedCard.write(text, to: path)) != nil else { return nil }
        guard unsafe setenv("ALSA_CONFIG_PATH", path, 1) == 0 else { return nil }
        return folder
    }()

    private static let takenInputs = Mutex(0)

    /// A capture device and a jack that no other test has; nil if there are no more, or no place for them.
    package static func takeInput() -> SimulatedMicrophone? {
        guard let folder else { return nil }
        let number = takenInputs.withLock { number -> Int in
            defer { number += 1 }
            return number
        }
        guard number < perKind else { return nil }
        return SimulatedMicrophone(
            device: "mic\(number)", path: "\(folder)/mic\(number)", controls: "jack\(number)",
            jack: "\(folder)/jack\(number).jack")
    }

    /// A card that no other test has; nil if there are no more, or no place for them.
    package static func take(_ kind: Kind = .usual) -> SimulatedCard? {
        guard let folder else { return nil }
        let number = taken.withLock { taken -> Int in
            defer { taken[kind, default: 0] += 1 }
            return taken[kind, default: 0]
        }
        guard number < perKind else { return nil }
        return SimulatedCard(folder: folder, number: kind.rawValue * perKind + number)
    }
}
