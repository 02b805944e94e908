// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplianceCore
import GLibLoop
import RouteKit
import Settings
import Testing

@testable import linnet

private var programs: String {
    let own = Machine.programPath ?? ""
    return String(own[..<(own.lastIndex(of: "/") ?? own.startIndex)])
}

@Suite struct `What is made from the card` {
    /// Every value at the ends of what the card allows, and such as key files have an opinion of.
    @Test(arguments: [
        ("x", "x", 1), (String(repeating: "n", count: 63), String(repeating: "d", count: 255), 100),
        (" #a;b\\n [x] = \"q\" ", "plughw:CARD=Ä,DEV=0", 7), ("\\", "\\s\\t", 99), ("ü😀", "null", 10),
    ])
    @RouteActor func `is taken by the daemon`(name: String, device: String, limit: Int) async throws {
        let trial = try Trial()
        try trial.put(
            "[device]\nname=\(name)\n[output]\ndevice=\(device)\nvolume-limit=\(limit)\n[access]\npolicy=open\n",
            "card/linnet.conf")
        let outcome = await trial.start()
        #expect(outcome.lines == [])
        let answer = try await ChildOutput.run([
            "\(programs)/linnetd", "--config-dir", "\(trial.data)/device", "--check-config",
        ])
        #expect(answer.status == 0)
        #expect(answer.text == "")
        let printed = try await ChildOutput.run([
            "\(programs)/linnetd", "--config-dir", "\(trial.data)/device", "--print-config",
        ])
        let again = try KeyFile(parsing: printed.text, file: "printed")
        let kept = DeviceSettings(kept: try FileSystem.read("\(trial.data)/device/settings", maximum: 4096))
        #expect(try again.string("receiver", "name") == kept.values["device.name"])
        #expect(try again.string("output", "device") == kept.values["output.device"])
        #expect(try again.real("output", "volume-cap", in: 0...1) == Double(limit) / 100)
    }
}

@Suite struct `The server` {
    /// Any server of files.
    private static let script = """
        import functools, http.server, os, sys
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
        server = http.server.HTTPServer(("127.0.0.1", 0), handler)
        with open(sys.argv[2] + ".new", "w") as file:
            file.write(f"{server.server_port}\\n")
        os.rename(sys.argv[2] + ".new", sys.argv[2])
        server.serve_forever()
        """

    @Test @RouteActor func `is asked for what there is for this board`() async throws {
        let trial = try Trial()
        try trial.put(Self.script, "server.py")
        try trial.put(#"{"version": "1.2.0", "bundle": "x-1.2.0.raucb"}"#, "served/linnet-test/latest.json")
        try trial.put(String(repeating: "x", count: 20_000), "served/linnet-long/latest.json")
        let server = try ChildProcess(
            [
                "sh", "-c",
                "exec python3 \(trial.folder)/server.py \(trial.folder)/served \(trial.folder)/port 2>/dev/null",
            ])
        for _ in 0..<3000 where !FileSystem.exists("\(trial.folder)/port") {
            try await Task.sleep(for: .milliseconds(10))
        }
        let port = try #require(FileSystem.firstLine("\(trial.folder)/port"))
        let url = "http://127.0.0.1:\(port)"
        let offer = try await UpdateServer(url: "\(url)/").newest(for: "linnet-test")
        #expect(offer == .init(version: "1.2.0", place: "\(url)/linnet-test/x-1.2.0.raucb"))
        for board in ["linnet-none", "linnet-long"] {
            await #expect(throws: CommandFailure.self) { try await UpdateServer(url: url).newest(for: board) }
        }
        server.forceExit()
        _ = try await server.wait(isolation: RouteActor.shared)
        await #expect(throws: CommandFailure.self) {
            try await UpdateServer(url: url).newest(for: "linnet-test")
        }
    }

    @Test @RouteActor func `offers what is newer than what runs`() throws {
        let trial = try Trial()
        var updater = Updater()
        updater.release = "\(trial.folder)/os-release"
        try trial.put("IMAGE_ID=linnet-test\nIMAGE_VERSION=1.1\n", "os-release")
        let newer = ["1.0", "1.1", "1.1~rc1", "1.2"].filter { updater.isNewer(.init(version: $0, place: "")) }
        #expect(newer == ["1.2"])
    }
}
