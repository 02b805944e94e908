// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel

/// Reads the members of one JSON object and says precisely what is wrong with them.
struct ParamReader {
    let path: String
    private let members: [String: JSONValue]

    /// Reads `value`, which must be an object or absent.
    init(_ value: JSONValue?, path: String) throws(RouteError) {
        self.path = path
        switch value {
        case nil, .some(.null): members = [:]
        case .some(.object(let object)): members = object
        case .some(let other): throw Self.fault(path, "expected an object, found \(other.kindName)")
        }
    }

    static func fault(_ path: String, _ problem: String) -> RouteError {
        RouteError(.invalidParams, "\(path): \(problem)", details: ["path": .text(path)])
    }

    /// What the members are called, in no order.
    var names: Dictionary<String, JSONValue>.Keys { members.keys }

    private func place(_ key: String) -> String { "\(path).\(key)" }

    /// The member, with null counted as absent.
    func optional(_ key: String) -> JSONValue? {
        guard let value = members[key], value != .null else { return nil }
        return value
    }

    private func required(_ key: String, _ kind: String) throws(RouteError) -> JSONValue {
        guard let value = optional(key) else {
            throw Self.fault(place(key), "expected \(kind), found nothing")
        }
        return value
    }

    private func wrong(_ key: String, _ kind: String, _ value: JSONValue) -> RouteError {
        Self.fault(place(key), "expected \(kind), found \(value.kindName)")
    }

    func text(_ key: String, bytes: ClosedRange<Int>) throws(RouteError) -> String {
        let value = try required(key, "text")
        guard let text = value.textValue else { throw wrong(key, "text", value) }
        guard bytes.contains(text.utf8.count) else {
            throw Self.fault(
                place(key),
                "expected \(bytes.lowerBound) to \(bytes.upperBound) bytes of text, found \(text.utf8.count)")
        }
        // Texts end up in C libraries, which would cut them there.
        guard !text.utf8.contains(0) else { throw Self.fault(place(key), "expected text without U+0000") }
        return text
    }

    func optionalText(_ key: String, bytes: ClosedRange<Int>) throws(RouteError) -> String? {
        optional(key) == nil ? nil : try text(key, bytes: bytes)
    }

    func bool(_ key: String, default standard: Bool? = nil) throws(RouteError) -> Bool {
        if let standard, optional(key) == nil { return standard }
        let value = try required(key, "a boolean")
        guard let bool = value.boolValue else { throw wrong(key, "a boolean", value) }
        return bool
    }

    func integer(_ key: String, in range: ClosedRange<Int64>) throws(RouteError) -> Int64 {
        let kind = "an integer from \(range.lowerBound) to \(range.upperBound)"
        let value = try required(key, kind)
        guard let integer = value.integerValue else { throw wrong(key, kind, value) }
        guard range.contains(integer) else {
            throw Self.fault(place(key), "expected \(kind), found \(integer)")
        }
        return integer
    }

    func number(_ key: String) throws(RouteError) -> Double {
        let value = try required(key, "a number")
        guard let number = value.numberValue, number.isFinite else { throw wrong(key, "a number", value) }
        return number
    }

    func optionalNumber(_ key: String) throws(RouteError) -> Double? {
        optional(key) == nil ? nil : try number(key)
    }

    func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, _ type: Choice.Type
    ) throws(RouteError) -> Choice where Choice.RawValue == String {
        let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        let value = try required(key, "one of \(names)")
        guard let text = value.textValue else { throw wrong(key, "one of \(names)", value) }
        guard let choice = Choice(rawValue: text) else {
            throw Self.fault(place(key), "expected one of \(names), found another text")
        }
        return choice
    }

    func object(_ key: String) throws(RouteError) -> ParamReader {
        try ParamReader(try required(key, "an object"), path: place(key))
    }

    func optionalObject(_ key: String) throws(RouteError) -> ParamReader? {
        guard let value = optional(key) else { return nil }
        return try ParamReader(value, path: place(key))
    }

    /// The objects of a list, none if it is absent.
    func objects(_ key: String, limit: Int) throws(RouteError) -> [ParamReader] {
        guard let value = optional(key) else { return [] }
        guard let list = value.arrayValue else { throw wrong(key, "a list", value) }
        guard list.count <= limit else {
            throw Self.fault(place(key), "expected at most \(limit) elements, found \(list.count)")
        }
        var readers: [ParamReader] = []
        for (index, element) in list.enumerated() {
            guard case .object = element else {
                throw Self.fault("\(place(key))[\(index)]", "expected an object, found \(element.kindName)")
            }
            readers.append(try ParamReader(element, path: "\(place(key))[\(index)]"))
        }
        return readers
    }

    /// The texts of a list, none if it is absent.
    func texts(_ key: String, limit: Int, bytes: ClosedRange<Int>) throws(RouteError) -> [String] {
        guard let value = optional(key) else { return [] }
        guard let list = value.arrayValue else { throw wrong(key, "a list", value) }
        guard list.count <= limit else {
            throw Self.fault(place(key), "expected at most \(limit) elements, found \(list.count)")
        }
        var result: [String] = []
        for (index, element) in list.enumerated() {
            guard let text = element.textValue, bytes.contains(text.utf8.count) else {
                throw Self.fault(
                    "\(place(key))[\(index)]",
                    "expected \(bytes.lowerBound) to \(bytes.upperBound) bytes of text")
            }
            result.append(text)
        }
        return result
    }

    func time(_ key: String, default standard: MediaTime? = nil) throws(RouteError) -> MediaTime {
        if let standard, optional(key) == nil { return standard }
        let reader = try object(key)
        if reader.optional("name") != nil {
            let name = try reader.text("name", bytes: 1...32)
            guard let time = MediaTime(named: name) else {
                throw Self.fault(
                    reader.place("name"),
                    "expected positiveInfinity, negativeInfinity, indefinite or invalid, found another text")
            }
            return time
        }
        let value = try reader.integer("value", in: .min ... .max)
        return MediaTime(
            value: value,
            timescale: Int32(truncatingIfNeeded: try reader.integer("timescale", in: 1...2_147_483_647)))
    }

    func range(_ key: String) throws(RouteError) -> TimeRange {
        let reader = try object(key)
        return TimeRange(start: try reader.time("start"), duration: try reader.time("duration"))
    }
}
