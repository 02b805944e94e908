// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GStreamer
import Synchronization

/// Decodes one item into its window, from any place on and at any rate.
final class SampleSource: Sendable {
    let window: SampleWindow
    private let pipeline: Element
    private let worker = SerialWorker()

    /// Begins to decode. Nil: an element is not installed.
    init?(_ address: String, tell: @escaping @Sendable (SampleStatus) -> Void) {
        let window = SampleWindow(tell: tell)
        self.window = window
        pipeline = Element.pipeline(named: "source")
        let tail = Element.bin(named: "tail")
        let converters = ["audioconvert", "scaletempo", "audioresample"].compactMap { Element(factory: $0) }
        guard let head = Element(factory: "uridecodebin"), converters.count == 3,
            let sink = AudioSink(rates: [Int32(SampleWindow.rate)], target: window)
        else { return nil }
        let chain = converters + [sink.element]
        for element in chain { tail.add(element) }
        for (one, next) in zip(chain, chain.dropFirst()) { _ = one.link(to: next) }
        tail.exposePad("sink", of: chain[0])
        pipeline.add(head)
        head.set("uri", string: address)
        head.set("caps", .sound)
        let isLinked = Atomic(false)
        head.linkPads(ofType: "audio/", in: pipeline) { _ in
            // One stream is heard, however many the item has.
            isLinked.exchange(true, ordering: .relaxed) ? nil : tail
        }
        pipeline.onMessage { message in
            if case .failed(let failure) = message { window.note(.failed(failure.message)) }
        }
        worker.perform { [pipeline] in
            pipeline.setState(.playing)
            pipeline.waitForState(timeout: .seconds(20))
        }
    }

    /// Ends the decoding.
    func close() {
        window.flushStarted()
        worker.perform { [pipeline] in pipeline.setState(.null) }
    }

    /// What is there is dropped; what follows is from this place of the item on, for this rate.
    func seek(to place: Int64, rate: Double) {
        window.seekBegan()
        worker.perform { [pipeline, window] in
            window.seekEnded(isDone: pipeline.seek(to: place, rate: rate, isAccurate: true))
        }
    }
}
