// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
package import MediaModel
import ReceiverRuntime

/// A renderer that plays nothing. It remembers commands and answers them as the test says.
package final class FakeRenderer: Renderer {
    package private(set) var commands: [RendererCommand] = []
    /// The tokens of descriptors that were handed over, and their numbers, which are closed at the end.
    package private(set) var descriptors: [UInt64: Int32] = [:]
    package private(set) var restarts: [String] = []
    package private(set) var isShutDown = false
    /// What follows from a command; delivered by `deliver`, never from inside the call.
    package var script: (RendererCommand) -> [RendererEvent] = { _ in [] }
    /// Said at the start and after each restart.
    package var output = OutputStatus(state: .closed, device: "hw:CARD=Fake", hasHardwareVolume: true)

    private var reporter: ((RendererEvent) -> Void)?
    private var waiting: [RendererEvent] = []
    private let order: RecordingOrder?

    package init(order: RecordingOrder? = nil) { self.order = order }

    package func start(report: @escaping (RendererEvent) -> Void) {
        reporter = report
        waiting.append(.started(output))
    }

    package func send(_ command: RendererCommand) {
        commands.append(command)
        waiting += script(command)
    }

    package func hand(over descriptor: Int32, token: UInt64) {
        if let old = descriptors.updateValue(descriptor, forKey: token) { _ = close(old) }
    }

    package func restart(reason: String) {
        restarts.append(reason)
        waiting += [.exited(reason: reason), .started(output)]
    }

    package func shutDown() {
        isShutDown = true
        for descriptor in descriptors.values { _ = close(descriptor) }
        descriptors = [:]
        reporter = nil
        order?.note("renderer.shutDown")
    }

    /// Reports an event now.
    package func report(_ event: RendererEvent) { reporter?(event) }

    /// Delivers the answers that wait. True if there were any.
    package func deliver() -> Bool {
        guard !waiting.isEmpty else { return false }
        let events = waiting
        waiting = []
        for event in events { report(event) }
        return true
    }

    /// The newest load that was asked for.
    package var currentLoad: LoadID? {
        for command in commands.reversed() {
            switch command {
            case .load(let load, _, _), .loadCapture(let load, _, _): return load
            default: break
            }
        }
        return nil
    }

    package func forgetCommands() { commands = [] }

    /// Answers loads with an item of this length and stops with `stopped`, as a quick renderer does.
    package static func playing(_ length: MediaTime) -> (RendererCommand) -> [RendererEvent] {
        let timeline = Timeline(
            range: TimeRange(start: .zero, duration: length), seekableRanges: nil, isLive: false,
            capabilities: [.seek, .scanForward, .scanBackward])
        return { command in
            switch command {
            case .load(let load, _, _):
                [.loaded(load, LoadedMedia(timeline: timeline, hasAudio: true, hasVideo: false))]
            case .seek(let load, let seek, _, _): [.seekFinished(load, seek, failure: nil)]
            case .bind(let load, _): [.readinessChanged(load, true)]
            case .stop(let load): [.stopped(load)]
            case .loadCapture(let load, _, _):
                [.loaded(load, LoadedMedia(timeline: .capture, hasAudio: true, hasVideo: false))]
            default: []
            }
        }
    }
}
