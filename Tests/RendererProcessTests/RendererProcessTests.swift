// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import MediaModel
import ReceiverRuntime
import ReceiverTestKit
import RendererProcess
import RendererWire
import Settings
import Testing

/// The daemon's end of a renderer, with shell scripts in its place.
@Suite(.timeLimit(.minutes(1))) struct RendererProcessTests {
    @Test func `a renderer that sound was is started again at once, one that keeps dying ever later`() {
        var policy = RestartPolicy()
        let pauses = (0..<8).map { _ in policy.pause(afterLiving: .seconds(1)) }
        #expect(pauses.map { $0 / .milliseconds(1) } == [0, 500, 1000, 2000, 4000, 8000, 10_000, 10_000])
        #expect(policy.pause(afterLiving: RestartPolicy.soundAge) == .zero)
    }

    @Test func `an exit is reported with its status, and another process follows`() async throws {
        let stage = try Stage("exit 7")
        let events = await stage.start()
        #expect(await events.next() == .exited(reason: "exit status 7"))
        #expect(await events.next() == .exited(reason: "exit status 7"))
        await stage.end()
    }

    @Test func `a program that is not there is reported`() async throws {
        let stage = try Stage(nil)
        let events = await stage.start()
        let reason = try #require(await events.next()?.exitReason)
        #expect(reason.contains("cannot be launched"))
        await stage.end()
    }

    @Test func `a renderer that answers no ping is ended`() async throws {
        let stage = try Stage("\(Stage.sleep)")
        let events = await stage.start { ($0.isWarm, $0.pingInterval) = (false, .milliseconds(30)) }
        #expect(await events.next() == .started(OutputStatus(state: .closed, device: "test")))
        await stage.run { $0.send(.load(LoadID(1), MediaItem(uri: "x:"), playing: true)) }
        #expect(await events.next() == .exited(reason: "it left 2 pings unanswered, signal 9"))
        await stage.end()
    }

    @Test func `a renderer is asked whether it is alive from a load on, and no more once it has none`()
        async throws
    {
        let notes = "/tmp/linnet-test-\(Machine.makeUUID())"
        defer { for ending in ["in", "out"] { try? FileSystem.remove("\(notes).\(ending)") } }
        let said = [.hello(version: RendererMessage.version), RendererMessage.event(.stopped(LoadID(1)))]
        try FileSystem.write(said.flatMap { $0.frame ?? [] }, to: "\(notes).out")
        let stage = try Stage("sleep 0.1; cat \(notes).out >&3; exec cat <&3 >\(notes).in")
        let events = await stage.start {
            ($0.isWarm, $0.idleTime) = (false, .milliseconds(1500))
            ($0.pingInterval, $0.pingLimit) = (.milliseconds(5), 100_000)
        }
        #expect(await events.next() == .started(OutputStatus(state: .closed, device: "test")))
        await stage.run { $0.send(.load(LoadID(1), MediaItem(uri: "x:"), playing: true)) }
        #expect(await events.next() == .stopped(LoadID(1)))
        await stage.run { $0.send(.setOutputVolume(.full)) }
        #expect(await stage.logged.next() == "renderer launched")
        #expect(await stage.logged.next() == "renderer ended, nothing to play")
        // The program ends when it has written all of it.
        var heard: [RendererMessage] = []
        while !heard.contains(.command(.setOutputVolume(.full))) {
            var decoder = FrameDecoder()
            decoder.push(try FileSystem.read("\(notes).in", maximum: 1 << 20))
            heard = []
            while let message = try decoder.next() { heard.append(message) }
            try await stage.rest(.milliseconds(5))
        }
        let load = try #require(heard.firstIndex { if case .command(.load) = $0 { true } else { false } })
        let volume = try #require(heard.lastIndex(of: .command(.setOutputVolume(.full))))
        let pings = heard.indices.filter { if case .ping = heard[$0] { true } else { false } }
        #expect(!pings.isEmpty)
        #expect(pings.allSatisfy { load < $0 && $0 < volume })
        await stage.end()
    }

    @Test func `a renderer that says nonsense is ended`() async throws {
        let stage = try Stage("printf 'hello, who is there' >&3; \(Stage.sleep)")
        let events = await stage.start()
        let reason = try #require(await events.next()?.exitReason)
        #expect(reason.hasSuffix(", signal 9"))
        await stage.end()
    }

    @Test func `a renderer that does not read is ended before its commands fill the memory`() async throws {
        let stage = try Stage("\(Stage.sleep)")
        let events = await stage.start { $0.isWarm = false }
        #expect(await events.next() == .started(OutputStatus(state: .closed, device: "test")))
        await stage.run { renderer in
            let text = String(repeating: "x", count: 100_000)
            for number in 1...20 {
                renderer.send(.load(LoadID(UInt64(number)), MediaItem(uri: text), playing: true))
            }
        }
        #expect(await events.next() == .exited(reason: "it does not read its commands, signal 9"))
        await stage.end()
    }

    @Test func `a restart names its reason`() async throws {
        let stage = try Stage("\(Stage.sleep)")
        let events = await stage.start()
        #expect(await stage.logged.next() == "renderer launched")
        await stage.run { $0.restart(reason: "it is stuck") }
        #expect(await events.next() == .exited(reason: "it is stuck, signal 9"))
        await stage.end()
    }

    @Test func `on demand, a process starts with the first load and ends when it is idle`() async throws {
        let stage = try Stage("exec cat <&3 >/dev/null")
        let events = await stage.start {
            ($0.isWarm, $0.idleTime) = (false, .milliseconds(20))
        }
        #expect(await events.next() == .started(OutputStatus(state: .closed, device: "test")))
        await stage.run { $0.send(.setOutputVolume(.full)) }
        await stage.run { $0.send(.stop(LoadID(1))) }
        #expect(await events.next() == .stopped(LoadID(1)))
        #expect(stage.log.lines.isEmpty)
        await stage.run { $0.send(.warmUp) }
        #expect(await stage.logged.next() == "renderer launched")
        #expect(await stage.logged.next() == "renderer ended, nothing to play")
        await stage.end()
    }
}

extension RendererEvent {
    var exitReason: String? { if case .exited(let reason) = self { reason } else { nil } }
}
