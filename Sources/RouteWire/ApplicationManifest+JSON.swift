// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import ApplicationModel

/// What is wrong with an `application.json`, for its author.
package struct ManifestFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// The member, such as `limits.memory` or `urls[2]`; empty for the whole.
    package let path: String
    package let problem: String
    package var description: String { path.isEmpty ? problem : "\(path): \(problem)" }
}

/// Reads manifests (`Docs/protocols/application.md`, section 1).
extension ApplicationManifest {
    /// The largest `application.json` in bytes.
    package static let sizeLimit = 64 << 10
    /// The version of the application protocol that is spoken here.
    package static let protocolVersion: Int64 = 1

    private static let members = [
        "id", "name", "version", "protocol", "executable", "arguments", "page", "icon", "urls", "instance",
        "routeChannel", "whenSenderLost", "restart", "permissions", "limits",
    ]

    package init(json bytes: [UInt8]) throws(ManifestFault) {
        let value: JSONValue
        do {
            value = try JSONText.decode(utf8: bytes, limit: Self.sizeLimit)
        } catch {
            throw ManifestFault(path: "", problem: error.description)
        }
        try self.init(value)
    }

    private init(_ value: JSONValue) throws(ManifestFault) {
        guard case .object = value else {
            throw ManifestFault(path: "", problem: "expected an object, found \(value.kindName)")
        }
        do {
            let reader = try ParamReader(value, path: Self.root)
            try Self.refuseOthers(than: Self.members, in: reader)
            try self.init(reader)
        } catch let fault as ManifestFault {
            throw fault
        } catch let error as RouteError {
            throw Self.fault(error)
        } catch {
            throw ManifestFault(path: "", problem: "\(error)")
        }
    }

    /// Stands before each path while it is read.
    private static let root = "manifest"

    private static func fault(_ error: RouteError) -> ManifestFault {
        let path = error.details["path"]?.textValue ?? ""
        let problem = error.message.dropFirst(error.message.hasPrefix("\(path): ") ? path.count + 2 : 0)
        return ManifestFault(path: String(path.dropFirst(root.count + 1)), problem: String(problem))
    }

    /// Refuses members that no rule knows, so that a mistake in a name is found.
    fileprivate static func refuseOthers(than known: [String], in reader: ParamReader) throws(ManifestFault) {
        guard let stranger = reader.names.filter({ !known.contains($0) }).min() else { return }
        // It is shown to people, and may hold anything.
        let shown = stranger.unicodeScalars.filter { $0.value >= 32 && $0.value != 127 }.prefix(64)
        let path = "\(reader.path).\(String(String.UnicodeScalarView(shown)))".dropFirst(root.count + 1)
        throw ManifestFault(
            path: String(path), problem: "unknown member; known are \(known.joined(separator: ", "))")
    }

    private init(_ reader: ParamReader) throws {
        let identifier = try reader.text("id", bytes: 1...ApplicationID.limit)
        guard let id = ApplicationID(identifier) else {
            throw ManifestFault(
                path: "id",
                problem:
                    "expected two or more labels of letters, digits and '-', joined by '.', such as org.example.radio"
            )
        }
        let name = try reader.text("name", bytes: 1...64)
        guard name.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 }) else {
            throw ManifestFault(path: "name", problem: "expected text without control characters")
        }
        let version = try reader.text("version", bytes: 1...32)
        guard version.utf8.allSatisfy(Self.isVersion) else {
            throw ManifestFault(path: "version", problem: "expected letters, digits, '.', '-' and '+'")
        }
        try Self.checkProtocol(reader)
        self.init(id: id, name: name, version: version, content: try Self.content(reader))
        icon = try Self.path("icon", reader, endings: [".png", ".svg"])
        patterns = try Self.patterns(reader)
        instance = try Self.choice("instance", reader, default: .perSession)
        hasRouteChannel = try reader.bool("routeChannel", default: false)
        guard !hasRouteChannel || instance == .shared else {
            throw ManifestFault(path: "routeChannel", problem: "expected false unless instance is shared")
        }
        whenSenderLost = try Self.choice("whenSenderLost", reader, default: .end)
        restart = try Self.choice("restart", reader, default: .never)
        permissions = try Self.permissions(reader)
        if let reader = try reader.optionalObject("limits") { limits = try Limits(reader) }
    }

    private static func checkProtocol(_ reader: ParamReader) throws {
        guard let value = reader.optional("protocol") else {
            throw ManifestFault(path: "protocol", problem: "expected a list of integers, found nothing")
        }
        guard let list = value.arrayValue, (1...16).contains(list.count) else {
            throw ManifestFault(path: "protocol", problem: "expected a list of 1 to 16 integers")
        }
        for (index, element) in list.enumerated() where element.integerValue == nil {
            throw ManifestFault(
                path: "protocol[\(index)]", problem: "expected an integer, found \(element.kindName)")
        }
        guard list.contains(where: { $0.integerValue == protocolVersion }) else {
            throw ManifestFault(
                path: "protocol", problem: "expected \(protocolVersion) to be one of the versions")
        }
    }

    private static func content(_ reader: ParamReader) throws -> Content {
        let program = try path("executable", reader)
        let page = try path("page", reader, endings: [".html", ".htm"])
        let arguments = try reader.texts("arguments", limit: 16, bytes: 0...256)
        for (index, argument) in arguments.enumerated() where argument.utf8.contains(0) {
            throw ManifestFault(path: "arguments[\(index)]", problem: "expected text without U+0000")
        }
        switch (program, page) {
        case (let program?, nil): return .program(path: program, arguments: arguments)
        case (nil, let page?):
            guard arguments.isEmpty else {
                throw ManifestFault(path: "arguments", problem: "expected nothing beside a page")
            }
            return .page(path: page)
        case (nil, nil):
            throw ManifestFault(
                path: "executable", problem: "expected a path, here or as page; found neither")
        case (.some, .some):
            throw ManifestFault(path: "page", problem: "expected either executable or page, found both")
        }
    }

    /// A file inside the folder.
    private static func path(_ key: String, _ reader: ParamReader, endings: [String] = []) throws -> String? {
        guard let path = try reader.optionalText(key, bytes: 1...512) else { return nil }
        guard isInside(path) else {
            throw ManifestFault(
                path: key,
                problem: "expected a path inside the folder, such as bin/main, without '.' and '..'")
        }
        let lowered = path.lowercased()
        guard endings.isEmpty || endings.contains(where: { lowered.hasSuffix($0) }) else {
            throw ManifestFault(
                path: key, problem: "expected a file that ends in \(endings.joined(separator: " or "))")
        }
        return path
    }

    /// True for a relative path of plain names.
    package static func isInside(_ path: String) -> Bool {
        let names = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return names.allSatisfy { name in
            !name.isEmpty && name.count <= 255 && !name.elementsEqual(".".utf8)
                && !name.elementsEqual("..".utf8)
                && name.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
        }
    }

    private static func patterns(_ reader: ParamReader) throws -> [URLPattern] {
        try reader.texts("urls", limit: 32, bytes: 1...URLPattern.limit).enumerated().map { index, text in
            guard let pattern = URLPattern(text) else {
                throw ManifestFault(
                    path: "urls[\(index)]",
                    problem: "expected a scheme, ':' and no blanks, such as https://radio.example.org/*")
            }
            return pattern
        }
    }

    private static func permissions(_ reader: ParamReader) throws -> Set<Permission> {
        var permissions: Set<Permission> = []
        let names = Permission.allCases.map(\.rawValue).joined(separator: ", ")
        for (index, text) in try reader.texts("permissions", limit: 16, bytes: 1...64).enumerated() {
            guard let permission = Permission(rawValue: text) else {
                throw ManifestFault(path: "permissions[\(index)]", problem: "expected one of \(names)")
            }
            guard permissions.insert(permission).inserted else {
                throw ManifestFault(path: "permissions[\(index)]", problem: "expected each permission once")
            }
        }
        return permissions
    }

    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, _ reader: ParamReader, default standard: Choice
    ) throws -> Choice where Choice.RawValue == String {
        reader.optional(key) == nil ? standard : try reader.choice(key, Choice.self)
    }

    private static func isVersion(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "+"):
            true
        default: false
        }
    }
}

extension ApplicationManifest.Limits {
    fileprivate init(_ reader: ParamReader) throws {
        self.init()
        try ApplicationManifest.refuseOthers(
            than: ["memory", "storage", "processes", "message", "idleSeconds"], in: reader)
        func read(_ key: String, _ range: ClosedRange<Int>, _ standard: Int) throws -> Int {
            guard reader.optional(key) != nil else { return standard }
            return Int(try reader.integer(key, in: Int64(range.lowerBound)...Int64(range.upperBound)))
        }
        memory = try read("memory", Self.memoryRange, memory)
        storage = try read("storage", Self.storageRange, storage)
        processes = try read("processes", Self.processRange, processes)
        message = try read("message", Self.messageRange, message)
        idleSeconds = try read("idleSeconds", Self.idleRange, idleSeconds)
    }
}
