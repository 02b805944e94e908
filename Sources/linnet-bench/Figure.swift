// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// One measured figure, beside the peers that were measured in the same run.
struct Figure {
    let bench: String
    let figure: String
    let unit: String
    /// Every try; the median is the figure.
    let ours: Samples
    /// Name → tries. A peer that could not be measured has its reason in `missing`.
    var peers: [(name: String, samples: Samples)] = []
    var missing: [(name: String, reason: String)] = []
    /// What the project wants to reach.
    var reach: Reach = .report
    /// What stands beside the figure, for people.
    var note: String?

    enum Reach {
        /// At most this many units.
        case atMost(Double)
        /// At most this multiple of the best peer.
        case ratioAtMost(Double)
        /// At least this multiple of the best peer, of what is better when it is more.
        case ratioAtLeast(Double)
        /// Reported, not judged.
        case report
    }

    /// Ours over the best peer, which is the smallest, or of rates the largest; nil without a peer or a figure.
    var ratio: Double? {
        let medians = peers.compactMap(\.samples.median)
        guard let own = ours.median, let best = isRate ? medians.max() : medians.min(), best > 0 else {
            return nil
        }
        return own / best
    }

    private var isRate: Bool {
        if case .ratioAtLeast = reach { return true }
        return unit.hasSuffix("/s")
    }

    /// Nil if the figure is not judged, or cannot be for want of a peer.
    var isMet: Bool? {
        guard let own = ours.median else {
            if case .report = reach { return nil }
            return false
        }
        switch reach {
        case .atMost(let limit): return own <= limit
        case .ratioAtMost(let limit): return ratio.map { $0 <= limit }
        case .ratioAtLeast(let limit): return ratio.map { $0 >= limit }
        case .report: return nil
        }
    }

    /// One JSON object on one line.
    var json: String {
        func number(_ value: Double?) -> String {
            guard let value, value.isFinite else { return "null" }
            return String(describing: (value * 1_000).rounded() / 1_000)
        }
        func quoted(_ text: String) -> String {
            "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        }
        let peerText =
            peers.map { "\(quoted($0.name)): \(number($0.samples.median))" }
            + missing.map { "\(quoted($0.name)): null" }
        let reachText: String =
            switch reach {
            case .atMost(let limit): quoted("<= \(number(limit)) \(unit)")
            case .ratioAtMost(let limit): quoted("<= \(number(limit)) x best peer")
            case .ratioAtLeast(let limit): quoted(">= \(number(limit)) x best peer")
            case .report: "null"
            }
        var members = [
            "\"bench\": \(quoted(bench))", "\"figure\": \(quoted(figure))", "\"unit\": \(quoted(unit))",
            "\"ours\": \(number(ours.median))", "\"peers\": {\(peerText.joined(separator: ", "))}",
            "\"ratio\": \(number(ratio))", "\"reach\": \(reachText)",
            "\"met\": \(isMet.map { String($0) } ?? "null")",
            "\"spread\": [\(number(ours.minimum)), \(number(ours.median)), \(number(ours.maximum))]",
            "\"tries\": \(ours.values.count), \"failed\": \(ours.failures)",
        ]
        if !missing.isEmpty {
            let reasons = missing.map { "\(quoted($0.name)): \(quoted($0.reason))" }
            members.append("\"missing\": {\(reasons.joined(separator: ", "))}")
        }
        if let note { members.append("\"note\": \(quoted(note))") }
        return "{\(members.joined(separator: ", "))}"
    }

    /// One line for people.
    var line: String {
        var text = "\(bench) \(figure): \(ours.text) \(unit)"
        for peer in peers { text += " | \(peer.name) \(peer.samples.text)" }
        for peer in missing { text += " | \(peer.name) not measured: \(peer.reason)" }
        if let ratio { text += " | ratio \(rounded(ratio, 2))" }
        if let isMet { text += isMet ? " | reached" : " | NOT reached" }
        if let note { text += " | \(note)" }
        return text
    }
}

/// The tries of one figure.
struct Samples {
    private(set) var values: [Double] = []
    /// Tries that gave nothing.
    private(set) var failures = 0

    init() {}
    init(_ values: [Double]) { self.values = values }

    mutating func add(_ value: Double?) {
        if let value { values.append(value) } else { failures += 1 }
    }

    private var sorted: [Double] { values.sorted() }
    var minimum: Double? { values.min() }
    var maximum: Double? { values.max() }
    var median: Double? { quantile(0.5) }

    func quantile(_ part: Double) -> Double? {
        guard !values.isEmpty else { return nil }
        let order = sorted
        return order[min(Int(Double(order.count) * part), order.count - 1)]
    }

    var text: String {
        guard let median, let minimum, let maximum else { return "nothing" }
        return "\(rounded(median, 2)) [\(rounded(minimum, 2)) .. \(rounded(maximum, 2))]"
            + (failures > 0 ? " (\(failures) failed)" : "")
    }
}

/// `value` with `places` decimals.
func rounded(_ value: Double, _ places: Int) -> String {
    let scale = (0..<places).reduce(1.0) { product, _ in product * 10 }
    let text = String(describing: (value * scale).rounded() / scale)
    return text.hasSuffix(".0") && places == 0 ? String(text.dropLast(2)) : text
}
