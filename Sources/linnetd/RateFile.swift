// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import GroupClock
import MediaModel
import ReceiverRuntime
import Settings
import Timing

/// Keeps in `rates.conf` how fast the clocks of other machines and the crystals of this machine's cards run: with them the first
/// minute of a group is as good as the second. Written in the background, as the state is. Made and used on a loop.
final class RateFile: CardMemory {
    private static let cardLimit = 16
    private static let textLimit = 256

    let clocks: ClockRateMemory
    private var cards: [(device: String, drift: Double)]
    private let writer: StateFile.Writer
    /// What stands in the file.
    private var written: Rates
    /// A change by less, in parts per million, is not worth wearing a memory card out for.
    private static let step = 0.3

    init(writer: StateFile.Writer, log: any Log) {
        self.writer = writer
        var known = Rates()
        if FileSystem.exists(writer.path) {
            do {
                known = try Rates(KeyFile(path: writer.path))
            } catch let failure as Failure {
                log.write(.warning, "state", "the rates cannot be read", ["reason": "\(failure)"])
            } catch {
                StateFile.setAside(writer.path, reason: "\(error)", log)
            }
        }
        (clocks, cards, written) = (ClockRateMemory(known.clocks), known.cards, known)
        clocks.onChange = { [weak self] _ in self?.save() }
    }

    var drifts: [(device: String, drift: Double)] { cards }

    func learn(drift: Double, of device: String) {
        guard drift.isFinite, device.utf8.count <= Self.textLimit else { return }
        cards.removeAll { $0.device == device }
        cards.append((device, drift))
        if cards.count > Self.cardLimit { cards.removeFirst() }
        save()
    }

    /// Whether what is known now is better than what is written.
    private var isNew: Bool {
        let (old, new) = (written.clocks, clocks.rates)
        guard old.count == new.count, written.cards.count == cards.count else { return true }
        let hasNewClock = new.contains { machine, rate in
            guard let before = old[machine] else { return true }
            return abs(before.partsPerMillion - rate.partsPerMillion) > Self.step
                || rate.deviation < before.deviation / 2 - 0.1
        }
        return hasNewClock
            || cards.contains { card in
                !written.cards.contains {
                    $0.device == card.device && abs($0.drift - card.drift) <= Self.step
                }
            }
    }

    private func save() {
        guard isNew else { return }
        written = Rates(clocks: clocks.rates, cards: cards)
        let clocks = clocks.rates.sorted { $0.key < $1.key }.enumerated().map { index, entry in
            (
                name: "clock \(index + 1)",
                values: [
                    (key: "machine", value: entry.key),
                    (key: "rate", value: "\(entry.value.partsPerMillion)"),
                    (key: "deviation", value: "\(entry.value.deviation)"),
                ]
            )
        }
        let cards = cards.enumerated().map { index, card in
            (
                name: "card \(index + 1)",
                values: [(key: "device", value: card.device), (key: "drift", value: "\(card.drift)")]
            )
        }
        writer.save("# Written by linnetd: rates in parts per million.\n" + KeyFile.text(of: clocks + cards))
    }

    /// What stands in the file.
    private struct Rates {
        private(set) var clocks: [String: ClockRate] = [:]
        private(set) var cards: [(device: String, drift: Double)] = []

        init(clocks: [String: ClockRate] = [:], cards: [(device: String, drift: Double)] = []) {
            (self.clocks, self.cards) = (clocks, cards)
        }

        init(_ file: KeyFile) throws(KeyFile.Fault) {
            for number in 1...ClockRateMemory.limit {
                let group = "clock \(number)"
                guard let machine = try file.string(group, "machine"), machine.utf8.count <= textLimit,
                    let rate = try file.real(group, "rate", in: -1_000...1_000),
                    let deviation = try file.real(group, "deviation", in: 0...1_000)
                else { continue }
                clocks[machine] = ClockRate(partsPerMillion: rate, deviation: deviation)
            }
            for number in 1...cardLimit {
                let group = "card \(number)"
                guard let device = try file.string(group, "device"), device.utf8.count <= textLimit,
                    let drift = try file.real(group, "drift", in: -1_000...1_000)
                else { continue }
                cards.append((device, drift))
            }
        }
    }
}
