// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import GStreamer
import Synchronization

/// Where pictures are shown: a pipeline of its own, so that nothing that happens to a display reaches the sound.
///
/// It is opened with the first picture and closed when nothing plays; in between it stays, also while one pipeline of
/// an item takes the place of another. A screen that was lost shows nothing more: a new one takes its place.
final class Screen: Sendable {
    private struct Elements: Sendable {
        let pipeline: Element
        let source: PictureSource
        let overlay: Element?
    }

    private struct State {
        var elements: Elements?
        /// Why it is lost.
        var reason: String?
        var feed: PictureFeed?
        var mark: Int64 = 0
        var text = ""
    }

    /// A display that does not let itself be opened in this time is none.
    private static let longestOpening = Duration.seconds(3)
    /// Marks are this far apart, in nanoseconds, as if they were times of pictures.
    private static let markStep: Int64 = 1_000_000

    private let choice: RendererConfiguration.VideoSink
    private let worker = SerialWorker()
    private let gate = Gate()
    private let state = Mutex(State())
    private let onLost: @Sendable (String) -> Void

    /// `onLost` is called once, on any thread, with the reason for people.
    init(_ choice: RendererConfiguration.VideoSink, onLost: @escaping @Sendable (String) -> Void) {
        (self.choice, self.onLost) = (choice, onLost)
    }

    /// Why nothing can be shown; nil if that is not known.
    var failure: String? { state.withLock { $0.reason } }

    /// Opens the display if it is not open. Waits for it. False if it is lost.
    func open() -> Bool {
        if state.withLock({ $0.elements != nil || $0.reason != nil }) { return failure == nil }
        let ticket = gate.ticket
        worker.perform { [self] in
            if state.withLock({ $0.elements == nil && $0.reason == nil }) { build() }
            gate.open()
        }
        gate.pass(ticket, timeout: Self.longestOpening)
        if state.withLock({ $0.elements == nil && $0.reason == nil }) {
            lose("The display does not answer.", isStuck: true)
        }
        return failure == nil
    }

    /// Removes the picture and gives the display up.
    func close() {
        let old = state.withLock { state in
            defer { (state.elements, state.feed, state.text) = (nil, nil, "") }
            return (state.elements, state.feed)
        }
        old.1?.close()
        guard let elements = old.0 else { return }
        worker.perform { elements.pipeline.setState(.null) }
    }

    /// Elements that nobody may touch any more, not even to free them: threads of theirs stand for ever. The renderer
    /// bounds how many there are.
    private static let stuck = Mutex<[Elements]>([])

    /// Shows nothing more. `isStuck`: a thread of the elements may stand for ever.
    func lose(_ reason: String, isStuck: Bool) {
        let (isFirst, feed, elements) = state.withLock { state in
            guard state.reason == nil else { return (false, nil as PictureFeed?, nil as Elements?) }
            defer { (state.elements, state.feed) = (nil, nil) }
            state.reason = reason
            return (true, state.feed, state.elements)
        }
        guard isFirst else { return }
        feed?.close()
        if let elements {
            if isStuck {
                Self.stuck.withLock { $0.append(elements) }
            } else {
                worker.perform { elements.pipeline.setState(.null) }
            }
        }
        gate.open()
        onLost(reason)
    }

    // MARK: Pictures

    func nextMark() -> Int64 {
        state.withLock {
            $0.mark += Self.markStep
            return $0.mark
        }
    }

    /// Sends a picture on its way to the display. False if there is none.
    func show(_ picture: Picture, mark: Int64, of feed: PictureFeed) -> Bool {
        guard open() else { return false }
        let source = state.withLock { state in
            state.feed = feed
            return state.reason == nil ? state.elements?.source : nil
        }
        return source?.push(picture, mark: mark) ?? false
    }

    private func isShown(_ mark: Int64) -> Bool {
        guard let feed = state.withLock({ $0.feed }) else { return false }
        return feed.awaitMoment(of: mark)
    }

    /// Puts the text of a picture over it.
    private func writeText(over mark: Int64) {
        let (feed, elements) = state.withLock { ($0.feed, $0.elements) }
        guard let overlay = elements?.overlay, let text = feed?.text(of: mark) else { return }
        let isNew = state.withLock { state in
            defer { state.text = text }
            return state.text != text
        }
        if isNew { overlay.set("text", string: text) }
    }

    // MARK: Opening

    private func build() {
        var reason = Display.obstacle(to: choice)
        for factory in reason == nil ? Display.sinks(for: choice) : [] {
            switch build(with: factory) {
            case .failed(let fault): reason = fault
            case .built(let elements):
                let isWanted = state.withLock { state in
                    guard state.reason == nil else { return false }
                    state.elements = elements
                    return true
                }
                if !isWanted { elements.pipeline.setState(.null) }
                return
            }
        }
        lose(reason ?? Display.absence, isStuck: false)
    }

    private enum Outcome {
        case built(Elements)
        case failed(String)
    }

    private func build(with factory: String) -> Outcome {
        guard let source = PictureSource() else { return .failed(Display.missing("appsrc")) }
        var chain = [source.element]
        for name in ["videoconvert", "videoscale", factory] {
            guard let element = Element(factory: name) else { return .failed(Display.missing(name)) }
            chain.append(element)
        }
        let sink = chain[chain.count - 1]
        Display.setUp(sink)
        sink.onPicture(at: "sink") { [weak self] mark in self?.isShown(mark) ?? false }
        let overlay = Element(factory: "textoverlay")
        if let overlay {
            chain.insert(overlay, at: chain.count - 1)
            Display.setUpText(overlay)
            overlay.onPicture(at: "video_sink") { [weak self] mark in
                self?.writeText(over: mark)
                return true
            }
        }
        let pipeline = Element.pipeline(named: "screen")
        let fault = FirstFault()
        pipeline.onMessage { [weak self] message in
            guard case .failed(let failure) = message, fault.note(failure.message) else { return }
            self?.lose("The display failed: \(failure.message)", isStuck: false)
        }
        for element in chain { pipeline.add(element) }
        for (one, next) in zip(chain, chain.dropFirst()) { _ = one.link(to: next) }
        guard pipeline.setState(.ready) else {
            pipeline.setState(.null)
            return .failed(fault.message ?? "The display cannot be opened by \(factory).")
        }
        Library.onLostX11 { [weak self] in self?.lose("The X server has gone.", isStuck: true) }
        fault.isFatal()
        pipeline.setState(.playing)
        return .built(Elements(pipeline: pipeline, source: source, overlay: overlay))
    }
}

/// What went wrong while a display was opened: until then faults only lead to the next kind of it.
private final class FirstFault: Sendable {
    private struct State {
        var message: String?
        var isFatal = false
    }
    private let state = Mutex(State())

    var message: String? { state.withLock { $0.message } }
    /// The display is open: the next fault ends it.
    func isFatal() { state.withLock { $0.isFatal = true } }
    /// True if the fault ends the screen.
    func note(_ message: String) -> Bool {
        state.withLock { state in
            state.message = state.message ?? message
            return state.isFatal
        }
    }
}
