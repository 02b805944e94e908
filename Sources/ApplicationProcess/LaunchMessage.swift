// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import MediaModel
import RouteWire

/// What the receiver and a service that starts programs say to each other: lines of JSON over a local socket, one
/// connection for each life of an instance, whose end is the end of all that was started.
enum LaunchMessage: Equatable, Sendable {
    // To the service.
    /// First and once. A program's end of its socket goes along; of a page, its address.
    case launch(ApplicationID, page: String?)
    case terminate
    case kill(limit: String?)
    // From the service.
    case started(ApplicationStart)
    case line(String)
    /// The last.
    case exited(ApplicationExit)

    /// The longest message in bytes: twenty lines of the log, each byte of them escaped.
    static let limit = 256 << 10

    struct Fault: Error, Equatable, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    // MARK: Writing

    var bytes: [UInt8] { Array(JSONText.encode(value).utf8) + [10] }

    private var value: JSONValue {
        switch self {
        case .launch(let application, let page):
            ["launch": .text(application.text), "page": JSONValue(page)]
        case .terminate: ["terminate": true]
        case .kill(let limit): ["kill": true, "limit": JSONValue(limit)]
        case .started(let start):
            [
                "started": .array(
                    start.layers.map { ["kind": .text($0.kind.rawValue), "reason": JSONValue($0.reason)] }),
                "storage": JSONValue(start.storage),
            ]
        case .line(let text): ["line": .text(text)]
        case .exited(let exit):
            ["exited": Self.value(of: exit.cause), "log": .array(exit.log.map { .text($0) })]
        }
    }

    private static func value(of cause: ApplicationExit.Cause) -> JSONValue {
        switch cause {
        case .status(let number): ["status": JSONValue(number)]
        case .signal(let number): ["signal": JSONValue(number)]
        case .notStarted(let reason): ["notStarted": .text(reason)]
        case .limit(let reason): ["limit": .text(reason)]
        }
    }

    // MARK: Reading

    /// Reads one line, without its end.
    init(_ line: [UInt8]) throws(Fault) {
        let value: JSONValue
        do { value = try JSONText.decode(utf8: line, limit: Self.limit) } catch {
            throw Fault(error.description)
        }
        if let text = value["launch"]?.textValue {
            guard let application = ApplicationID(text) else { throw Fault("'\(text)' names no application") }
            self = .launch(application, page: value["page"]?.textValue)
        } else if value["terminate"] != nil {
            self = .terminate
        } else if value["kill"] != nil {
            self = .kill(limit: value["limit"]?.textValue)
        } else if let layers = value["started"]?.arrayValue {
            var start = ApplicationStart(layers: [], storage: value["storage"]?.textValue)
            for layer in layers {
                guard let kind = ConfinementLayer.Kind(rawValue: layer["kind"]?.textValue ?? "") else {
                    continue
                }
                start.layers.append(ConfinementLayer(kind, reason: layer["reason"]?.textValue))
            }
            self = .started(start)
        } else if let text = value["line"]?.textValue {
            self = .line(text)
        } else if let cause = value["exited"].flatMap(Self.cause) {
            self = .exited(
                ApplicationExit(cause, log: value["log"]?.arrayValue?.compactMap(\.textValue) ?? []))
        } else {
            throw Fault("a message is of no known kind")
        }
    }

    private static func cause(of value: JSONValue) -> ApplicationExit.Cause? {
        if let number = value["status"]?.integerValue.flatMap(Int32.init(exactly:)) { return .status(number) }
        if let number = value["signal"]?.integerValue.flatMap(Int32.init(exactly:)) { return .signal(number) }
        if let reason = value["notStarted"]?.textValue { return .notStarted(reason) }
        return value["limit"]?.textValue.map { .limit($0) }
    }
}

/// Makes messages of the bytes of a connection.
struct LaunchMessageReader {
    private var bytes: [UInt8] = []

    mutating func push(_ more: [UInt8]) { bytes += more }

    /// Nil when no whole message is left.
    mutating func next() throws(LaunchMessage.Fault) -> LaunchMessage? {
        guard let end = bytes.firstIndex(of: 10) else {
            guard bytes.count <= LaunchMessage.limit else {
                throw LaunchMessage.Fault("a message has more than \(LaunchMessage.limit) bytes")
            }
            return nil
        }
        let line = Array(bytes[..<end])
        bytes.removeFirst(end + 1)
        return try LaunchMessage(line)
    }
}
