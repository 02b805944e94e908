// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import MediaModel
import ReceiverRuntime
import ReceiverTestKit
import RendererProcess
import RendererWire
import SessionCore
import Settings
import SwitchingCore
import SystemProbe

/// A receiver in this process, with its renderer on a simulated card, a phone that is a pipe, and a sender. The phone plays on the
/// right, the sender on the left.
actor SwitchStage {
    private nonisolated let loop = GLibLoop(named: "receiver")
    private var shell: ReceiverShell?
    private var phone: TonePhones?
    private var client: FakeClient?
    private var card: SimulatedCard
    private let url: String
    private var requests = 0
    private let log = RecordingLog()
    private static let step = 0.0414
    private static let amplitude = 0.3

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    /// What was heard on the whole.
    struct Analysis {
        /// Milliseconds in which both were heard.
        var overlap: Double
        /// The largest step between two samples, where 1 is that of the louder source.
        var step: Double
    }

    private let renderer: RendererProcess.Configuration

    init(folder: String, programs: String, environment: [String: String]) throws {
        card = SimulatedCard(folder: "\(folder)/card")
        url = "file://\(folder)/left.wav"
        try Self.writeTone("\(folder)/left.wav")
        var renderer = RendererProcess.Configuration(program: "\(programs)/linnet-renderer", device: "sim0")
        renderer.environment = environment
        renderer.settings = [
            .init(key: "output.device", value: "sim0"), .init(key: "sessions.allow-file", value: "yes"),
        ]
        self.renderer = renderer
    }

    func begin() async throws {
        try start(renderer)
        for _ in 0..<2_000 where rendererIsDown { try await loop.sleep(for: .milliseconds(5)) }
        if rendererIsDown { throw ProbeFailure("the renderer does not start: \(log.lines.suffix(5))", 0) }
        say("route.activate", #"{"version":1,"sender":{"id":"bench","name":"Bench"}}"#)
    }

    private var rendererIsDown: Bool { shell?.state.device.output.device != "sim0" }

    private func start(_ renderer: RendererProcess.Configuration) throws {
        var configuration = ReceiverConfiguration(
            name: "bench", software: "bench", advertises: false, allowsFiles: true)
        // More switches in a minute than anybody would have are what is measured.
        var policy = SwitchingPolicy()
        policy.switchLimit = 100_000
        configuration.accessory = AccessoryConfiguration(policy: policy)
        let phone = TonePhones(address: SourceAddress(0xA0_0000_0000_01)) { body in
            EventSource.once(after: .zero, body)
        }
        let listener = FakeListener()
        let shell = ReceiverShell(
            configuration: configuration,
            ports: ReceiverPorts(
                renderer: RendererProcess(renderer, log: log), listener: listener,
                advertiser: FakeAdvertiser(),
                store: MemoryStore(SavedState(identifier: "bench", volume: Volume(level: 1))),
                clock: BenchClock(), identifiers: FixedIdentifiers(),
                accessory: AccessoryPorts(sources: phone)), log: log)
        _ = try shell.start()
        (self.shell, self.phone) = (shell, phone)
        client = listener.connect()
    }

    /// Lets the loop run what waits.
    private func breathe() async { try? await loop.sleep(for: .milliseconds(1)) }

    private func say(_ method: String, _ params: String) {
        requests += 1
        client?.say(#"{"jsonrpc":"2.0","id":\#(requests),"method":"\#(method)","params":\#(params)}"#)
        _ = client?.takeTexts()
    }

    func press(play: Bool) { phone?.setStreaming(play) }
    func startSession() { say("session.start", #"{"url":"\#(url)","mode":"player"}"#) }
    func stopSession() { say("session.stop", "{}") }
    func takePhone() { if let phone { say("sources.take", #"{"source":"\#(phone.address.text)"}"#) } }

    /// When something is heard on a channel; waits for it.
    func sound(channel: Int, from start: Int64) async throws -> Int64 {
        for _ in 0..<2_500 {
            if let moment = card.recording().firstSound(from: start, channel: channel, threshold: 300) {
                return moment
            }
            try? await loop.sleep(for: .milliseconds(4))
        }
        throw ProbeFailure("nothing is heard on channel \(channel): \(log.lines.suffix(8))", 0)
    }

    /// What this process and the renderer's hold: descriptors of both, and kB of the renderer, since the recording here grows.
    func holdings() -> (descriptors: Int, anonymous: Int) {
        var (descriptors, anonymous) = (0, 0)
        for pid in ProcessTable.family(of: ProcessTable.own) {
            let isOwn = pid == ProcessTable.own
            guard isOwn || readText("/proc/\(pid)/comm").hasPrefix("linnet-renderer"),
                let one = ProcessTable.holdings(of: pid)
            else { continue }
            descriptors += one.descriptors
            if !isOwn { anonymous += one.anonymous }
        }
        return (descriptors, anonymous)
    }

    var restarts: Int { log.lines.count { $0.message == "renderer exited" } }

    func analysis() -> Analysis {
        let recording = card.recording()
        let samples = recording.samples
        var (both, largest) = (0, 0)
        for frame in stride(from: 2, to: samples.count - 1, by: 2) {
            let (left, right) = (Int(samples[frame]), Int(samples[frame + 1]))
            if left.magnitude > 300, right.magnitude > 300 { both += 1 }
            largest = max(
                largest, abs(left - Int(samples[frame - 2])), abs(right - Int(samples[frame - 1])))
        }
        let source = max(Self.amplitude * 32_767 * Self.step, Double(phone?.largestStep ?? 0)) + 2
        return Analysis(overlap: Double(both) / 48, step: Double(largest) / source)
    }

    func end() async {
        guard let shell else { return }
        shell.shutDown {}
        await breathe()
        self.shell = nil
    }

    /// A minute of a tone on the left.
    private static func writeTone(_ path: String) throws {
        let frames = 48_000 * 60
        var bytes = Workspace.waveHeader(rate: 48_000, frames: frames)
        bytes.reserveCapacity(bytes.count + frames * 4)
        // The pointer of a sine, turned by `step` with each frame.
        let (cosine, sine) = (0.999_143_14, 0.041_388_18)
        var (x, y) = (1.0, 0.0)
        for _ in 0..<frames {
            (x, y) = (x * cosine - y * sine, x * sine + y * cosine)
            let sample = UInt16(bitPattern: Int16(amplitude * y * 32_767))
            bytes += [UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8), 0, 0]
        }
        try writeBytes(bytes, to: path)
    }
}

/// The kernel's monotonic clock and the loop's timers.
private final class BenchClock: Clock {
    let identifier = "bench"
    var now: Int64 { monotonicNanoseconds() }
    func schedule(after delay: Duration, _ body: @escaping () -> Void) -> any ScheduledTimer {
        Timer(source: EventSource.after(delay, body))
    }

    private final class Timer: ScheduledTimer {
        private let source: EventSource
        init(source: EventSource) { self.source = source }
        deinit { source.destroy() }
    }
}
