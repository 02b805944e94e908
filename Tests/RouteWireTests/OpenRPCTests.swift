// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MediaModel
import Testing

@testable import RouteWire

/// Holds `Docs/protocols/route.openrpc.json` against the code.
struct OpenRPCTests {
    private let document: JSONValue
    private let schemas: Schemas

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let data = try Data(contentsOf: root.appending(path: "Docs/protocols/route.openrpc.json"))
        document = try JSONText.decode(String(decoding: data, as: UTF8.self), limit: 1 << 20)
        schemas = Schemas(document["components"]?["schemas"]?.objectValue ?? [:])
    }

    private var methods: [JSONValue] { document["methods"]?.arrayValue ?? [] }

    @Test func `the document has exactly the methods of the code`() {
        #expect(methods.compactMap { $0["name"]?.textValue }.sorted() == RouteRequest.methods.sorted())
    }

    @Test func `parameters that must be there stand before those that may, as OpenRPC demands`() {
        for method in methods {
            let required = (method["params"]?.arrayValue ?? []).map { $0["required"] == true }
            #expect(
                required == required.filter(\.self) + required.filter { !$0 }, "\(method["name"] ?? .null)")
        }
    }

    @Test func `the document has exactly the errors of the code`() {
        let errors = document["components"]?["errors"]?.objectValue ?? [:]
        #expect(Set(errors.keys) == Set(RouteError.Code.allCases.map(\.rawValue)))
        for code in RouteError.Code.allCases {
            #expect(errors[code.rawValue]?["code"] == .integer(code.number))
            #expect(errors[code.rawValue]?["data"]?["family"] == .text(code.family.rawValue))
        }
    }

    @Test func `every example is taken, and a required member cannot be left out`() throws {
        for method in methods {
            let name = try #require(method["name"]?.textValue)
            let params = method["params"]?.arrayValue ?? []
            var example: [String: JSONValue] = [:]
            for param in method["examples"]?.arrayValue?.first?["params"]?.arrayValue ?? [] {
                example[param["name"]?.textValue ?? ""] = param["value"]
            }
            // The example shows every parameter that is documented, and no other.
            #expect(Set(example.keys) == Set(params.compactMap { $0["name"]?.textValue }), "\(name)")
            let whole = try RouteRequest(method: name, params: .object(example))
            // What the code writes again has no member that the document does not know.
            let written = Set((whole.params?.objectValue ?? [:]).keys)
            #expect(written.isSubset(of: example.keys), "\(name)")
            for param in params {
                let key = try #require(param["name"]?.textValue)
                let value = try #require(example[key])
                #expect(schemas.faults(of: value, by: param["schema"] ?? .null, at: key) == [], "\(name)")
                var less = example
                less[key] = nil
                if param["required"] == true {
                    #expect(throws: RouteError.self, "\(name) without \(key)") {
                        try RouteRequest(method: name, params: .object(less))
                    }
                } else {
                    let without = try RouteRequest(method: name, params: .object(less))
                    #expect(without != whole, "\(name) does not read \(key)")
                }
            }
        }
    }

    @Test func `every example's result fits its schema and is read by the code`() throws {
        for method in methods {
            let name = try #require(method["name"]?.textValue)
            let result = try #require(method["examples"]?.arrayValue?.first?["result"]?["value"])
            #expect(schemas.faults(of: result, by: method["result"]?["schema"] ?? .null, at: name) == [])
            switch name {
            case "route.activate": _ = try StateDocument(json: try ActivationResult(json: result).state)
            case "state.get", "state.subscribe":
                _ = try StateDocument(json: try StateResult(json: result).state)
            case "session.start": #expect(try StateResult(json: result).session != nil)
            case "clock.ping": _ = try PingResult(json: result)
            case "group.create": _ = try GroupCreated(json: result)
            case "accessory.register", "accessory.current", "accessory.update":
                _ = try AccessoryAnswer(json: result)
            case "group.admit": _ = try GroupAdmission(json: result)
            default: _ = try Outcome(json: result)
            }
        }
    }

    @Test func `what the code writes fits the document's schemas`() {
        let state = Fixtures.state.json
        func check(_ value: JSONValue, _ schema: String) {
            // Null members count as absent on the wire.
            let reference: JSONValue = ["$ref": .text("#/components/schemas/\(schema)")]
            #expect(schemas.faults(of: value, by: reference, at: schema) == [])
        }
        check(state, "State")
        check(
            ActivationResult(
                route: "r", resumeToken: "t", resumed: false, graceSeconds: 30,
                clock: ClockInfo(id: "c", now: 1),
                version: 1, state: state
            ).json, "Activated")
        check(StateResult(session: "s", version: 3, state: state).json, "Started")
        check(StateResult(version: 3, state: state).json, "Snapshot")
        check(GroupFixtures.created.json, "GroupCreated")
        check(GroupFixtures.admission.json, "GroupAdmission")
        check(GroupFixtures.seen.json, "Group")
        check(Fixtures.accessory.json, "Accessory")
        check(
            AccessoryAnswer(
                registration: "r", capabilities: ["placement"], placement: "inEar", primary: nil,
                secondary: nil
            ).json, "AccessoryConfiguration")
        check(PingResult(id: "c", received: 1, sent: 2).json, "Pong")
        for outcome in [Outcome.accepted, .clamped(4), .value(true)] { check(outcome.json, "Outcome") }
        check(WireOrigin.sender(route: "r", name: "n").json, "Origin")
    }

    @Test func `the validator itself finds faults`() {
        var broken = Fixtures.state.json.objectValue ?? [:]
        broken["device"] = ["id": 5]
        let reference: JSONValue = ["$ref": "#/components/schemas/State"]
        #expect(!schemas.faults(of: .object(broken), by: reference, at: "State").isEmpty)
    }
}

/// As much of JSON Schema as the document uses.
struct Schemas {
    private let named: [String: JSONValue]
    init(_ named: [String: JSONValue]) { self.named = named }

    /// Every place where `value` does not fit `schema`.
    func faults(of value: JSONValue, by schema: JSONValue, at path: String) -> [String] {
        if let reference = schema["$ref"]?.textValue {
            let name = String(reference.split(separator: "/").last ?? "")
            guard let target = named[name] else { return ["\(path): schema \(name) is missing"] }
            return faults(of: value, by: target, at: path)
        }
        if let choices = schema["oneOf"]?.arrayValue {
            let fitting = choices.filter { faults(of: value, by: $0, at: path).isEmpty }
            return fitting.count == 1 ? [] : ["\(path): fits \(fitting.count) of \(choices.count) choices"]
        }
        var result: [String] = []
        if let choices = schema["enum"]?.arrayValue, !choices.contains(value) {
            result.append("\(path): not one of the choices")
        }
        switch schema["type"]?.textValue {
        case "object":
            guard let members = value.objectValue else { return ["\(path): no object"] }
            for key in schema["required"]?.arrayValue?.compactMap(\.textValue) ?? []
            where (members[key] ?? .null) == .null && !isNullable(schema["properties"]?[key]) {
                result.append("\(path).\(key): missing")
            }
            for (key, member) in members {
                if let property = schema["properties"]?[key] {
                    if member == .null, !(schema["required"]?.arrayValue ?? []).contains(.text(key)) {
                        continue
                    }
                    result += faults(of: member, by: property, at: "\(path).\(key)")
                } else if let rest = schema["additionalProperties"], rest.objectValue != nil {
                    result += faults(of: member, by: rest, at: "\(path).\(key)")
                } else if schema["properties"] != nil {
                    result.append("\(path).\(key): not documented")
                }
            }
        case "array":
            guard let elements = value.arrayValue else { return ["\(path): no array"] }
            if let items = schema["items"] {
                for (index, element) in elements.enumerated() {
                    result += faults(of: element, by: items, at: "\(path)[\(index)]")
                }
            }
        case "string": if value.textValue == nil { result.append("\(path): no text") }
        case "boolean": if value.boolValue == nil { result.append("\(path): no boolean") }
        case "integer": if value.integerValue == nil { result.append("\(path): no integer") }
        case "null": if value != .null { result.append("\(path): not null") }
        case "number":
            guard let number = value.numberValue else { return result + ["\(path): no number"] }
            if let least = schema["minimum"]?.numberValue, number < least {
                result.append("\(path): too small")
            }
            if let most = schema["maximum"]?.numberValue, number > most {
                result.append("\(path): too large")
            }
        default: break
        }
        return result
    }

    private func isNullable(_ schema: JSONValue?) -> Bool {
        schema?["type"] == "null" || (schema?["oneOf"]?.arrayValue ?? []).contains(["type": "null"])
    }
}
