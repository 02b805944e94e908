// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import ApplicationProcess
import ReceiverRuntime
import Settings
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CatalogTests {
    private let stage: HostStage

    init() throws { stage = try HostStage() }

    private func read(isRoot: Bool = false) -> ApplicationCatalog {
        ApplicationCatalog(folders: [stage.system, stage.local], isRoot: isRoot)
    }

    @Test func `the administrator's folder wins`() throws {
        try stage.install("org.example.a")
        try stage.install("org.example.a", #""permissions":["volume"]"#, in: stage.local)
        try stage.install("org.example.b", in: stage.local)
        let catalog = read()
        #expect(catalog.manifests.map(\.id.text) == ["org.example.a", "org.example.b"])
        #expect(catalog.manifests.first?.permissions == [.volume])
        #expect(catalog.faults.isEmpty)
    }

    @Test func `folders that are not there are empty`() {
        #expect(ApplicationCatalog(folders: ["/nonexistent"], isRoot: true).faults.isEmpty)
    }

    @Test func `a faulty application is left out with its place and reason, the others are taken`() throws {
        try stage.install("org.example.good")
        try stage.install("org.example.unknown", #""permision":[]"#)
        try stage.install("org.example.moved")
        try FileSystem.rename("\(stage.system)/org.example.moved", to: "\(stage.system)/org.example.other")
        try stage.install("org.example.program")
        try FileSystem.remove("\(stage.system)/org.example.program/main")
        try stage.install("org.example.mode")
        let script = "\(stage.system)/org.example.mode/main"
        try FileSystem.remove(script)
        try FileSystem.write([10], to: script)
        try FileSystem.makeDirectory("\(stage.system)/org.example.empty")
        try FileSystem.makeDirectory("\(stage.system)/.partial")
        try FileSystem.write([], to: "\(stage.system)/README")
        let catalog = read()
        #expect(catalog.manifests.map(\.id.text) == ["org.example.good"])
        let faults = catalog.faults.map { String($0.dropFirst(stage.system.count + 1)) }
        #expect(faults.count == 6)
        #expect(faults.contains("README: it is no folder"))
        #expect(faults.contains("org.example.empty/application.json: there is none"))
        #expect(faults.contains("org.example.mode/main: it is not executable"))
        #expect(faults.contains("org.example.program/main: there is none"))
        #expect(
            faults.contains(
                "org.example.other/application.json: id: expected 'org.example.other', the folder's name, found 'org.example.moved'"
            ))
        #expect(
            faults.contains {
                $0.hasPrefix("org.example.unknown/application.json: permision: unknown member")
            })
    }

    @Test func `links are refused, as the folder, the manifest, the program and on the way to it`() throws {
        try stage.install("org.example.real")
        try FileSystem.link("\(stage.system)/org.example.link", to: "\(stage.system)/org.example.real")
        for (name, file) in [("org.example.json", "application.json"), ("org.example.main", "main")] {
            try stage.install(name)
            try FileSystem.remove("\(stage.system)/\(name)/\(file)")
            try FileSystem.link(
                "\(stage.system)/\(name)/\(file)", to: "\(stage.system)/org.example.real/\(file)")
        }
        try stage.install("org.example.way", #""icon":"art/icon.png""#)
        try FileSystem.link("\(stage.system)/org.example.way/art", to: "/usr")
        let catalog = read()
        #expect(catalog.manifests.map(\.id.text) == ["org.example.real"])
        #expect(
            catalog.faults.count == 4 && catalog.faults.allSatisfy { $0.hasSuffix(": it is a link") },
            "\(catalog.faults)")
    }

    @Test(.enabled(if: Machine.isRoot, "only root can give files away"))
    func `root takes nothing that others could change`() throws {
        let nobody = try #require(Machine.user(named: "nobody"))
        try stage.install("org.example.given")
        try FileSystem.give("\(stage.system)/org.example.given/main", to: nobody)
        try stage.install("org.example.open")
        try FileSystem.setMode("\(stage.system)/org.example.open", 0o777)
        try stage.install("org.example.local", in: stage.local)
        try FileSystem.setMode(stage.local, 0o777)
        let catalog = read(isRoot: true)
        #expect(catalog.manifests.isEmpty)
        #expect(
            catalog.faults == [
                "\(stage.system)/org.example.given/main: it does not belong to root",
                "\(stage.system)/org.example.open: everybody may write to it",
                "\(stage.local): everybody may write to it",
            ])
    }

    @Test func `changes of the folders are seen, and faults are logged once`() async throws {
        try stage.install("org.example.a")
        await stage.start()
        #expect(await stage.catalog().map(\.id.text) == ["org.example.a"])
        try stage.install("org.example.b", in: stage.local)
        #expect(await stage.catalog().map(\.id.text) == ["org.example.a", "org.example.b"])
        try FileSystem.write(
            Array(#"{"id":"org.example.a"}"#.utf8), to: "\(stage.system)/org.example.a/application.json")
        #expect(await stage.catalog().map(\.id.text) == ["org.example.b"])
        let manifest =
            #"{"id":"org.example.a","name":"A","version":"2","protocol":[1],"executable":"main","permissions":["volume"]}"#
        try FileSystem.write(Array(manifest.utf8), to: "\(stage.system)/org.example.a/application.json")
        #expect(await stage.catalog().first?.permissions == [.volume])
        #expect(stage.log.messages.filter { $0 == "application not taken" }.count == 1)
    }

    @Test func `a folder that is made later is seen`() async throws {
        let later = "\(stage.root)/later/applications"
        await stage.start { $0.folders = [later] }
        #expect(await stage.catalog().isEmpty)
        try stage.install("org.example.a", in: later)
        #expect(await stage.catalog().map(\.id.text) == ["org.example.a"])
    }

    @Test func `files of a page are served with their types, and nothing from outside`() async throws {
        try stage.install("org.example.page", #""page":"www/index.html","icon":"icon.svg""#)
        let folder = "\(stage.system)/org.example.page"
        try FileSystem.makeDirectory("\(folder)/www")
        for (name, size) in [
            ("www/index.html", 3), ("www/a.mjs", 1), ("icon.svg", 5), ("www/large.png", (4 << 20) + 1),
        ] {
            try FileSystem.write([UInt8](repeating: 32, count: size), to: "\(folder)/\(name)")
        }
        try FileSystem.link("\(folder)/www/out", to: "/etc/passwd")
        try FileSystem.link("\(folder)/etc", to: "/etc")
        try stage.install("org.example.program", #""icon":"icon.png""#)
        try FileSystem.write([1], to: "\(stage.system)/org.example.program/icon.png")
        await stage.start()
        #expect(await stage.catalog().count == 2)
        let page = await stage.file("www/index.html", of: "org.example.page")
        #expect(page?.type == "text/html; charset=utf-8" && page?.body.count == 3)
        #expect(page?.headers["X-Content-Type-Options"] == "nosniff")
        #expect(
            await stage.file("www/a.mjs", of: "org.example.page")?.type == "text/javascript; charset=utf-8")
        #expect(await stage.file("icon.svg", of: "org.example.page")?.type == "image/svg+xml")
        for path in [
            "", "www", "www/", "/etc/passwd", "../org.example.program/main",
            "www/../../org.example.program/main",
            "www/out", "etc/passwd", "www/large.png", "nothing", "www/index.html/x", "www/index.html\u{0}",
        ] {
            #expect(await stage.file(path, of: "org.example.page") == nil, "\(path)")
        }
        #expect(await stage.file("icon.png", of: "org.example.program")?.type == "image/png")
        #expect(await stage.file("main", of: "org.example.program") == nil)
        #expect(await stage.file("icon.png", of: "org.example.nothing") == nil)
    }

    @Test func `the helper for pages is read once, if it is not too large`() async throws {
        let (small, large) = ("\(stage.root)/linnet.js", "\(stage.root)/large.js")
        try FileSystem.write([1, 2], to: small)
        try FileSystem.write([UInt8](repeating: 32, count: 256 << 10 | 1), to: large)
        await stage.start { $0.script = large }
        #expect(await stage.script == nil)
        await stage.start { $0.script = small }
        let page = await stage.script
        #expect(page?.body == [1, 2] && page?.type == "text/javascript; charset=utf-8")
        #expect(page?.headers["Cache-Control"] == "max-age=3600")
        try FileSystem.remove(small)
        #expect(await stage.script == page)
        await stage.start()
        #expect(await stage.script == nil)
    }
}
