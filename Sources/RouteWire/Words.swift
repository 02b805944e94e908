// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import MediaModel

// The words of `MediaModel` as JSON, both ways. Reading is tolerant of unknown members.

extension MediaTime {
    package var json: JSONValue {
        if let name { return ["name": .text(name)] }
        return ["value": .integer(value), "timescale": .integer(Int64(timescale))]
    }
}

extension TimeRange {
    package var json: JSONValue { ["start": start.json, "duration": duration.json] }
}

extension PlaybackPosition {
    package var json: JSONValue {
        ["position": position.json, "clockTime": .integer(clockTime), "rate": .number(rate)]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        self.init(
            position: try reader.time("position"),
            clockTime: try reader.integer("clockTime", in: .min ... .max),
            rate: try reader.number("rate"))
    }
}

extension SeekCapabilities {
    /// The names on the wire, in their order.
    static let names: [(String, SeekCapabilities)] = [
        ("seek", .seek), ("scanForward", .scanForward), ("scanBackward", .scanBackward),
    ]

    package var json: JSONValue { .array(Self.names.filter { contains($0.1) }.map { .text($0.0) }) }

    init(names: [String]) {
        self = SeekCapabilities(Self.names.filter { names.contains($0.0) }.map(\.1))
    }
}

extension Segment {
    package var json: JSONValue {
        [
            "range": range.json, "type": .text(kind.rawValue), "isMarked": .bool(isMarked),
            "requiresLinearPlayback": .bool(requiresLinearPlayback), "identifier": JSONValue(identifier),
        ]
    }

    /// Reads a segment. `isTolerant`: a type that only a later receiver knows is `other`; a sender's must be known.
    init(_ reader: ParamReader, isTolerant: Bool = false) throws(RouteError) {
        let kind: Kind
        if reader.optional("type") == nil {
            kind = .primary
        } else if isTolerant {
            kind = Kind(rawValue: try reader.text("type", bytes: 1...64)) ?? .other
        } else {
            kind = try reader.choice("type", Kind.self)
        }
        self.init(
            range: try reader.range("range"), kind: kind,
            isMarked: try reader.bool("isMarked", default: false),
            requiresLinearPlayback: try reader.bool("requiresLinearPlayback", default: false),
            identifier: try reader.optionalText("identifier", bytes: 0...256))
    }
}

extension TrackOption {
    package var json: JSONValue {
        [
            "id": .text(identifier), "name": .text(displayName), "language": JSONValue(languageTag),
            "characteristics": .array(characteristics.map { .text($0) }),
        ]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        self.init(
            identifier: try reader.text("id", bytes: 1...256),
            displayName: try reader.text("name", bytes: 0...1_024),
            languageTag: try reader.optionalText("language", bytes: 1...64),
            characteristics: try reader.texts("characteristics", limit: 32, bytes: 1...128))
    }
}

extension TrackSelection {
    package var json: JSONValue {
        ["options": .array(options.map(\.json)), "current": JSONValue(current)]
    }

    init(_ reader: ParamReader?) throws(RouteError) {
        self.init()
        guard let reader else { return }
        for option in try reader.objects("options", limit: 256) { options.append(try TrackOption(option)) }
        current = try reader.optionalText("current", bytes: 1...256)
    }
}

extension Tracks {
    package var json: JSONValue {
        .object(Dictionary(TrackKind.allCases.map { ($0.name, self[$0].json) }) { first, _ in first })
    }

    init(_ reader: ParamReader?) throws(RouteError) {
        self.init()
        guard let reader else { return }
        for kind in TrackKind.allCases {
            self[kind] = try TrackSelection(try reader.optionalObject(kind.name))
        }
    }
}

extension TrackKind {
    /// The name on the wire.
    package var name: String {
        switch self {
        case .audio: "audio"
        case .audioDescription: "audioDescription"
        case .legible: "legible"
        }
    }
}

extension PixelSize {
    package var json: JSONValue { ["width": JSONValue(width), "height": JSONValue(height)] }

    init(_ reader: ParamReader) throws(RouteError) {
        let limit = Int64(Int32.max)
        self.init(
            width: Int32(truncatingIfNeeded: try reader.integer("width", in: 0...limit)),
            height: Int32(truncatingIfNeeded: try reader.integer("height", in: 0...limit)))
    }
}

extension PictureStatus {
    package var json: JSONValue { ["state": .text(state.rawValue), "reason": JSONValue(reason)] }

    /// A state that only a later receiver knows, or none, is `none`.
    init(_ reader: ParamReader?) throws(RouteError) {
        self.init(
            try reader?.optionalText("state", bytes: 1...64).flatMap { State(rawValue: $0) } ?? .none,
            reason: try reader?.optionalText("reason", bytes: 0...65_536))
    }
}

extension MediaFailure {
    package var json: JSONValue {
        [
            "code": .text(code.rawValue), "message": .text(message),
            "httpStatus": httpStatus.map { JSONValue($0) } ?? .null,
        ]
    }

    init(_ reader: ParamReader) throws(RouteError) {
        let name = try reader.text("code", bytes: 1...64)
        let status: Int32? =
            reader.optional("httpStatus") == nil
            ? nil : Int32(truncatingIfNeeded: try reader.integer("httpStatus", in: 0...999))
        self.init(
            Code(rawValue: name) ?? .internalFailure, try reader.text("message", bytes: 0...4_096),
            httpStatus: status)
    }
}
