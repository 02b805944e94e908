// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import AudioOutput
import GLibLoop
import GStreamerRenderer
import MediaModel
import Synchronization

/// Drives a renderer by lines of text, to try it by hand and to measure it: `play URI`, `pause`, `resume`,
/// `seek SECONDS`, `capture DEVICE`, `listen DEVICE`, `speed X`, `scan X|off`, `track NAME`, `text NAME|off`, `volume X`, `stop`, `warm`, `quit`. Events are
/// printed one a line.
enum Console {
    static func run(_ configuration: RendererConfiguration, loop: GLibLoop) async -> Int32 {
        guard
            let renderer = GStreamerRenderer(
                loop: loop, configuration: configuration, report: { print(Self.text($0)) })
        else { return 1 }
        BackgroundThread.run(named: "console") { read(into: renderer) }
        await renderer.run()
        return 0
    }

    private static func read(into renderer: GStreamerRenderer) {
        var (load, seek): (UInt64, UInt64) = (0, 0)
        while let line = readLine() {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            let id = LoadID(load)
            let number = words.count > 1 ? Double(words[1]) : nil
            switch words.first {
            case "play", "load":
                load += 1
                renderer.send(
                    .load(LoadID(load), MediaItem(uri: words.last ?? ""), playing: words[0] == "play"))
            case "capture":
                load += 1
                let source = CaptureSource(kind: .device(name: words.last ?? ""))
                renderer.send(.loadCapture(LoadID(load), source, playing: true))
            case "listen": renderer.send(.watchCapture([CaptureWatch(name: words.last ?? "")]))
            case "pause": renderer.send(.setPlaying(id, false))
            case "resume": renderer.send(.setPlaying(id, true))
            case "seek":
                seek += 1
                let time = MediaTime(nanoseconds: Int64((number ?? 0) * 1e9))
                renderer.send(.seek(id, SeekID(seek), to: time, tolerance: .zero))
            case "speed": renderer.send(.setSpeed(id, number ?? 1))
            case "scan": renderer.send(.setScan(id, number))
            case "track": renderer.send(.selectTrack(id, .audio, identifier: words.last))
            case "text":
                let name = words.last == "off" ? nil : words.last
                renderer.send(.selectTrack(id, .legible, identifier: name))
            case "volume": renderer.send(.setOutputVolume(Volume(level: number ?? 1)))
            case "stop": renderer.send(.stop(id))
            case "warm": renderer.send(.warmUp)
            case "quit": renderer.shutDown()
            default: print("?")
            }
        }
        renderer.shutDown()
    }

    private static func text(_ event: RendererEvent) -> String {
        if case .artworkFound(let id, let artwork) = event {
            return
                "artworkFound(\(id), \(artwork.type), \(artwork.bytes.count) bytes, \(String(describing: artwork.size)))"
        }
        return "\(AudioOutput.now() / 1000) \(event)"
    }
}
