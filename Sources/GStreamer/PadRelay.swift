// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer
import Synchronization

/// Links the pads of an element to one tail, one after the other.
///
/// Where a successor was promised, the tail does not hear that the pad before it is over, and the successor is held back
/// until then. A pad that is over may be a successor once more.
package final class PadRelay: Sendable {
    /// A pad, which its element holds from `pad-added` to `pad-removed`. That is as long as it is kept here.
    @safe fileprivate struct Source: Equatable, @unchecked Sendable {
        // Pads guard what they hold by locks of their own.
        let pointer: UnsafeMutablePointer<GstPad>
        init(_ pointer: UnsafeMutablePointer<GstPad>) { unsafe self.pointer = unsafe pointer }
        static func == (one: Self, other: Self) -> Bool { unsafe one.pointer == other.pointer }
    }
    private struct Held {
        var pad: Source
        var probe: gulong
        /// True once something has come to it.
        var isReady = false
    }
    private struct Values {
        var linked: Source?
        var held: [Held] = []
        /// How many times a successor is to follow.
        var promised = 0
    }
    /// A pad of a chain is over long before so many others have come.
    private static let limit = 4
    private let values = Mutex(Values())
    private let tail: Element

    package init(to tail: Element) { self.tail = tail }

    /// Says that another pad follows the one that is linked. To be called before that one ends.
    package func promiseSuccessor() {
        values.withLock { $0.promised = min($0.promised + 1, Self.limit) }
    }

    fileprivate func added(_ pad: Source) {
        let isFirst: Bool? = values.withLock { values in
            if values.linked == nil {
                values.linked = pad
                return true
            }
            return values.promised > 0 && values.held.count < Self.limit ? false : nil
        }
        guard let isFirst else { return }
        probe(pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) { [weak self] event in
            guard event == GST_EVENT_EOS, self?.over(pad) == true else { return GST_PAD_PROBE_OK }
            return GST_PAD_PROBE_DROP
        }
        if isFirst { link(pad) } else { hold(pad) }
    }

    fileprivate func removed(_ pad: Source) {
        values.withLock { values in values.held.removeAll { $0.pad == pad } }
        if !over(pad, isGone: true) { values.withLock { if $0.linked == pad { $0.linked = nil } } }
    }

    /// Goes over to the successor, if there is to be one, when `queue` has given away the last of what the linked pad
    /// brings: `decodebin3` of GStreamer 1.22 does not always say so behind its decoders.
    package func watch(_ queue: Element) {
        queue.connect("pad-added") { [weak self] arguments in
            guard let self, let added = unsafe arguments.object(1), let pad = unsafe gst_shim_pad(added),
                unsafe gst_pad_get_direction(pad) == GST_PAD_SRC
            else { return 0 }
            probe(unsafe Source(pad), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) { [weak self] event in
                if event == GST_EVENT_EOS, let self, let linked = values.withLock({ $0.linked }) {
                    _ = over(linked)
                }
                return GST_PAD_PROBE_OK
            }
            return 0
        }
    }

    /// Keeps back what comes to a pad until it is its turn.
    private func hold(_ pad: Source) {
        values.withLock { $0.held.append(Held(pad: pad, probe: 0)) }
        // Events go on, and stick to the pad: whoever sends them may hold what another pad's end needs.
        let samples = GstPadProbeType(
            rawValue: GST_PAD_PROBE_TYPE_BLOCK.rawValue | GST_PAD_PROBE_TYPE_BUFFER.rawValue
                | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue)
        let number = probe(pad, samples) { [weak self] _ in
            self?.mustWait(pad) == false ? GST_PAD_PROBE_REMOVE : GST_PAD_PROBE_OK
        }
        let isNext = values.withLock { values in
            guard let index = values.held.firstIndex(where: { $0.pad == pad }) else { return false }
            values.held[index].probe = number
            // Its turn may have come before it could be let go.
            guard values.held[index].isReady, values.linked == nil else { return false }
            values.linked = pad
            values.held.remove(at: index)
            return true
        }
        guard isNext else { return }
        link(pad)
        unsafe gst_pad_remove_probe(pad.pointer, number)
    }

    /// Something has come to a pad that is held. False if it is its turn.
    private func mustWait(_ pad: Source) -> Bool {
        let isNext = values.withLock { values in
            guard let index = values.held.firstIndex(where: { $0.pad == pad }) else { return false }
            values.held[index].isReady = true
            guard values.linked == nil else { return false }
            values.linked = pad
            values.held.remove(at: index)
            return true
        }
        if isNext { link(pad) }
        return !isNext
    }

    /// Nothing more comes from `pad`. True if another one takes its place.
    private func over(_ pad: Source, isGone: Bool = false) -> Bool {
        let (isFollowed, next): (Bool, Held?) = values.withLock { values in
            guard values.linked == pad, values.promised > 0 else { return (false, nil) }
            values.promised -= 1
            // One that is still to come finds the tail free.
            let index = values.held.firstIndex { $0.isReady && $0.probe != 0 }
            let next = index.map { values.held.remove(at: $0) }
            values.linked = next?.pad
            return (true, next)
        }
        guard isFollowed else { return false }
        if let sink = unsafe gst_element_get_static_pad(tail.pointer, "sink") {
            unsafe gst_pad_unlink(pad.pointer, sink)
            unsafe gst_object_unref(sink)
        }
        if !isGone { hold(pad) }
        if let next {
            link(next.pad)
            unsafe gst_pad_remove_probe(next.pad.pointer, next.probe)
        }
        return true
    }

    private func link(_ pad: Source) {
        guard let sink = unsafe gst_element_get_static_pad(tail.pointer, "sink") else { return }
        if unsafe gst_pad_is_linked(sink) == 0 {
            unsafe gst_pad_link_full(pad.pointer, sink, GST_PAD_LINK_CHECK_NOTHING)
        }
        unsafe gst_object_unref(sink)
    }

    /// Has `body` look at what comes to a pad; it is given the kind of event.
    @discardableResult
    private func probe(
        _ pad: Source, _ kind: GstPadProbeType,
        _ body: @escaping @Sendable (GstEventType) -> GstPadProbeReturn
    ) -> gulong {
        unsafe gst_pad_add_probe(
            pad.pointer, kind,
            { _, information, data in
                let box = unsafe Unmanaged<ProbeBox>.fromOpaque(data!).takeUnretainedValue()
                let isEvent =
                    unsafe gst_shim_probe_type(information) & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue
                let event = unsafe isEvent != 0 ? gst_shim_probe_event(information) : nil
                return box.body(unsafe event.map { unsafe gst_shim_event_type($0) } ?? GST_EVENT_UNKNOWN)
            }, Unmanaged.passRetained(ProbeBox(body)).toOpaque(),
            { unsafe Unmanaged<ProbeBox>.fromOpaque($0!).release() })
    }
}

private final class ProbeBox {
    let body: @Sendable (GstEventType) -> GstPadProbeReturn
    init(_ body: @escaping @Sendable (GstEventType) -> GstPadProbeReturn) { self.body = body }
}

extension Element {
    /// Links the next pad of this element through `relay`, whenever there is one of the media type `prefix` and the tail is
    /// free.
    package func linkPads(ofType prefix: String, through relay: PadRelay) {
        connect("pad-added") { arguments in
            guard let added = unsafe arguments.object(1) else { return 0 }
            let pad = unsafe gst_shim_pad(added)!
            if unsafe mediaType(of: pad).hasPrefix(prefix) { relay.added(unsafe PadRelay.Source(pad)) }
            return 0
        }
        connect("pad-removed") { arguments in
            if let removed = unsafe arguments.object(1) {
                relay.removed(unsafe PadRelay.Source(gst_shim_pad(removed)!))
            }
            return 0
        }
    }
}
