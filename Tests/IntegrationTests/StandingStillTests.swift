// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import MediaModel
import RouteKit
import Settings
import SystemProbe
import Testing

extension Receiving {
    /// A renderer that says that it plays, answers everything, and never gets on.
    struct StandingStillTests {
        @Test @RouteActor func `what stands still is pushed, restarted, and given up with its name`()
            async throws
        {
            let folder = try Programs.makeFolder()
            defer { Programs.remove(folder) }
            let root = Programs.build.split(separator: "/").dropLast().joined(separator: "/")
            let program = "\(folder)/renderer"
            try FileSystem.write(
                Array("#!/bin/sh\nexec python3 /\(root)/Tests/Support/python/renderer.py frozen\n".utf8),
                to: program, mode: 0o755)
            let settings = ["--renderer-program", program, "--stall-timeout-seconds", "0.5"]
            try await ReceiverUnderTest.use(settings) { receiver in
                try await receiver.route.wait("the output") { $0.device.output.device == "test" }
                let began = ContinuousClock.now
                let control = try await receiver.playReady("position.flac")
                try await control.wait("a restart") { $0.error?.code == .stalled }
                let restarted = ContinuousClock.now - began
                #expect(restarted > .milliseconds(950) && restarted < .seconds(15))
                try await control.wait("the end") { $0.end != nil }
                guard case .failed(let failure)? = control.end else {
                    Issue.record("ended with \(String(describing: control.end))")
                    return
                }
                #expect(failure.code == .stalled && failure.message.contains("position.flac"))
                func launches() -> Int {
                    readLines("\(receiver.folder)/linnetd.log").count { $0.contains("renderer launched") }
                }
                #expect(await Programs.poll(within: .seconds(30)) { launches() >= 2 })
                #expect(launches() == 2)
            }
        }
    }
}
