// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import RouteWire
import SeededNumbers
import Testing

struct ApplicationManifestTests {
    private static let least: [String: JSONValue] = [
        "id": "org.example.echo", "name": "Echo", "version": "1.0", "protocol": [1],
        "executable": "bin/main.py",
    ]

    private static func manifest(_ changes: [String: JSONValue?] = [:]) throws -> ApplicationManifest {
        var members = least
        for (name, value) in changes { members[name] = value }
        return try ApplicationManifest(json: Array(JSONText.encode(.object(members)).utf8))
    }

    private static func fault(_ changes: [String: JSONValue?]) -> ManifestFault? {
        do {
            _ = try manifest(changes)
            return nil
        } catch {
            return error as? ManifestFault
        }
    }

    @Test func `the least manifest has the standard values`() throws {
        let manifest = try Self.manifest()
        var expected = ApplicationManifest(
            id: try #require(ApplicationID("org.example.echo")), name: "Echo", version: "1.0",
            content: .program(path: "bin/main.py", arguments: []))
        #expect(manifest == expected)
        expected.limits = .init()
        #expect(manifest.limits == expected.limits && manifest.permissions.isEmpty)
    }

    @Test func `every member is read`() throws {
        let manifest = try Self.manifest([
            "arguments": ["-v", ""], "icon": "Icon.PNG", "urls": ["https://example.org/*", "echo:*"],
            "instance": "shared", "routeChannel": true, "whenSenderLost": "stay", "restart": "onFailure",
            "permissions": ["player", "volume", "network", "storage"],
            "limits": [
                "memory": 16_777_216, "storage": 65_536, "processes": 1, "message": 1_024, "idleSeconds": 0,
            ],
        ])
        #expect(manifest.content == .program(path: "bin/main.py", arguments: ["-v", ""]))
        #expect(manifest.icon == "Icon.PNG")
        #expect(manifest.patterns.map(\.text) == ["https://example.org/*", "echo:*"])
        #expect(manifest.instance == .shared && manifest.hasRouteChannel)
        #expect(manifest.whenSenderLost == .stay && manifest.restart == .onFailure)
        #expect(manifest.permissions == Set(ApplicationManifest.Permission.allCases))
        #expect(manifest.limits.memory == 16 << 20 && manifest.limits.storage == 64 << 10)
        #expect(manifest.limits.processes == 1 && manifest.limits.message == 1 << 10)
        #expect(manifest.limits.idleSeconds == 0)
        let page = try Self.manifest(["executable": nil, "page": "www/index.html"])
        #expect(page.content == .page(path: "www/index.html"))
    }

    private static let faults: [(String, JSONValue?, String, String)] = [
        ("id", nil, "id", "found nothing"),
        ("id", "echo", "id", "two or more labels"),
        ("id", "org..echo", "id", "two or more labels"),
        ("id", "org/echo.x", "id", "two or more labels"),
        ("id", 3, "id", "expected text, found an integer"),
        ("name", "", "name", "expected 1 to 64 bytes"),
        ("name", "a\u{1b}[2J", "name", "control characters"),
        ("version", "1 0", "version", "expected letters"),
        ("protocol", nil, "protocol", "found nothing"),
        ("protocol", [2, 3], "protocol", "expected 1 to be one"),
        ("protocol", [1, "2"], "protocol[1]", "expected an integer, found text"),
        ("protocol", 1, "protocol", "expected a list"),
        ("executable", nil, "executable", "found neither"),
        ("executable", "/bin/sh", "executable", "inside the folder"),
        ("executable", "../other/main", "executable", "inside the folder"),
        ("executable", "bin/../../main", "executable", "inside the folder"),
        ("executable", "./main", "executable", "inside the folder"),
        ("executable", "bin//main", "executable", "inside the folder"),
        ("executable", "bin/", "executable", "inside the folder"),
        ("executable", "ma\nin", "executable", "inside the folder"),
        ("executable", "ma\u{0}in", "executable", "U+0000"),
        ("page", "index.html", "page", "found both"),
        ("arguments", ["a", 1], "arguments[1]", "expected 0 to 256 bytes"),
        ("arguments", ["a\u{0}"], "arguments[0]", "U+0000"),
        ("icon", "icon.exe", "icon", "ends in .png or .svg"),
        ("icon", "../icon.png", "icon", "inside the folder"),
        ("urls", ["https://a/*", "no scheme"], "urls[1]", "expected a scheme"),
        ("urls", ["x"], "urls[0]", "expected a scheme"),
        ("instance", "many", "instance", "expected one of perSession, shared"),
        ("routeChannel", true, "routeChannel", "unless instance is shared"),
        ("routeChannel", "yes", "routeChannel", "expected a boolean, found text"),
        ("whenSenderLost", "wait", "whenSenderLost", "expected one of end, stay"),
        ("restart", true, "restart", "expected one of never, onFailure, found a boolean"),
        ("permissions", ["network", "root"], "permissions[1]", "expected one of player, volume"),
        ("permissions", ["network", "network"], "permissions[1]", "once"),
        ("limits", ["memory": 1], "limits.memory", "from 16777216 to 1073741824, found 1"),
        ("limits", ["memory": 1e300], "limits.memory", "found a number"),
        ("limits", ["cpu": 1], "limits.cpu", "unknown member; known are memory"),
        ("limits", [], "limits", "expected an object, found an array"),
        ("permission", ["network"], "permission", "unknown member; known are id, name"),
    ]

    @Test(arguments: faults.indices)
    func `a fault names its member and what is expected`(_ index: Int) throws {
        let (name, value, path, problem) = Self.faults[index]
        let fault = try #require(Self.fault([name: value]))
        #expect(fault.path == path)
        #expect(fault.problem.contains(problem), "\(fault)")
    }

    @Test func `what is no object or too large is refused`() {
        for text in ["", "[]", "null", "{", "\"id\"", String(repeating: "[", count: 60_000)] {
            #expect(throws: ManifestFault.self) { try ApplicationManifest(json: Array(text.utf8)) }
        }
        let large = Array("{\"id\":\"\(String(repeating: "x", count: 65_536))\"}".utf8)
        #expect(throws: ManifestFault.self) { try ApplicationManifest(json: large) }
        #expect(throws: ManifestFault.self) { try ApplicationManifest(json: [0xff, 0xfe]) }
    }

    @Test func `an unknown name is shown without what moves a terminal`() throws {
        let name = "\u{1b}[31m" + String(repeating: "x", count: 500)
        let fault = try #require(Self.fault([name: true]))
        #expect(fault.path.utf8.count == 64 && !fault.path.unicodeScalars.contains("\u{1b}"))
    }

    @Test func `bytes that were changed anywhere never trap`() throws {
        var random = SeededNumbers(seed: 4)
        let text = Array(JSONText.encode(.object(Self.least)).utf8)
        for _ in 0..<20_000 {
            var bytes = text
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(
                    in: .min ... .max, using: &random)
            }
            _ = try? ApplicationManifest(json: bytes)
        }
    }
}
