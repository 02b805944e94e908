// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// Counts for `/metrics`. Label values come from fixed sets only, so the number of series is bounded.
struct Metrics {
    struct Request: Hashable {
        let method: String
        let outcome: String
    }

    var requests: [Request: UInt64] = [:]
    /// Changes sent to a client.
    var statePushes: UInt64 = 0
    /// Changes that a slow reader got joined with a later one.
    var skippedStates: UInt64 = 0
    var rendererRestarts: UInt64 = 0
    var connectionsOpened: UInt64 = 0
    /// Connections cut because the peer broke a limit.
    var connectionsCut: UInt64 = 0
    var dataMessages: UInt64 = 0
    var applicationLaunches: UInt64 = 0
    var applicationExits: UInt64 = 0
    /// Data messages that were passed on, and those that were refused instead.
    var messagesToApplications: UInt64 = 0
    var messagesToSenders: UInt64 = 0
    var messagesRefused: UInt64 = 0

    mutating func count(_ method: String, _ outcome: String) {
        requests[Request(method: method, outcome: outcome), default: 0] += 1
    }
}

/// Text in the OpenMetrics format, version 1.0.0.
struct OpenMetricsText {
    static let type = "application/openmetrics-text; version=1.0.0; charset=utf-8"
    private var text = ""

    mutating func counter(_ name: String, _ help: String, _ value: UInt64) {
        family(name, "counter", help)
        sample(name + "_total", [], String(value))
    }

    mutating func counters(
        _ name: String, _ help: String, _ samples: [(labels: [(String, String)], value: UInt64)]
    ) {
        family(name, "counter", help)
        for entry in samples { sample(name + "_total", entry.labels, String(entry.value)) }
    }

    mutating func gauge(_ name: String, _ help: String, _ value: Int) {
        family(name, "gauge", help)
        sample(name, [], String(value))
    }

    /// One of several states holds.
    mutating func states(_ name: String, _ help: String, _ all: [String], current: String) {
        family(name, "stateset", help)
        for state in all { sample(name, [(name, state)], state == current ? "1" : "0") }
    }

    mutating func info(_ name: String, _ help: String, _ labels: [(String, String)]) {
        family(name, "info", help)
        sample(name + "_info", labels, "1")
    }

    /// The whole exposition.
    func finished() -> String { text + "# EOF\n" }

    private mutating func family(_ name: String, _ type: String, _ help: String) {
        text += "# TYPE \(name) \(type)\n# HELP \(name) \(help)\n"
    }

    private mutating func sample(_ name: String, _ labels: [(String, String)], _ value: String) {
        let pairs = labels.map { "\($0.0)=\"\(Self.escape($0.1))\"" }.joined(separator: ",")
        text += pairs.isEmpty ? "\(name) \(value)\n" : "\(name){\(pairs)} \(value)\n"
    }

    private static func escape(_ value: String) -> String {
        var escaped = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
