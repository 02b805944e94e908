// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer
import Synchronization

extension Element {
    /// Keeps from this parser of AAC the headers that make it stand: at one whose frame would be shorter than the header
    /// itself, GStreamer (1.22 to 1.26) waits for more bytes, to the end of the stream, instead of looking further.
    package func guardHeaders() {
        guard let sink = unsafe gst_element_get_static_pad(pointer, "sink") else { return }
        defer { unsafe gst_object_unref(sink) }
        unsafe gst_pad_add_probe(
            sink, GST_PAD_PROBE_TYPE_BUFFER,
            { pad, information, data in
                let probe = unsafe Unmanaged<GuardProbe>.fromOpaque(data!).takeUnretainedValue()
                unsafe probe.look(at: information!, on: pad!)
                return GST_PAD_PROBE_OK
            }, unsafe Unmanaged.passRetained(GuardProbe()).toOpaque(),
            { unsafe Unmanaged<GuardProbe>.fromOpaque($0!).release() })
    }
}

private final class GuardProbe: Sendable {
    private let state = Mutex(ADTSGuard())

    func look(at information: UnsafeMutablePointer<GstPadProbeInfo>, on pad: UnsafeMutablePointer<GstPad>) {
        guard let buffer = unsafe gst_shim_probe_buffer(information), unsafe !hasBareFrames(pad) else {
            return
        }
        let isFresh = unsafe gst_shim_buffer_is_discontinuity(buffer) != 0
        var bytes = [UInt8](repeating: 0, count: Int(unsafe gst_buffer_get_size(buffer)))
        _ = unsafe bytes.withUnsafeMutableBytes {
            unsafe gst_buffer_extract(buffer, 0, $0.baseAddress, gsize($0.count))
        }
        let changes = state.withLock { state in
            if isFresh { state = ADTSGuard() }
            return state.pass(bytes)
        }
        guard !changes.isEmpty, let own = unsafe gst_shim_make_writable(buffer) else { return }
        unsafe information.pointee.data = UnsafeMutableRawPointer(own)
        for change in changes {
            var byte = change.byte
            unsafe gst_buffer_fill(own, gsize(change.place), &byte, 1)
        }
    }
}

/// True if what comes to a pad are frames without headers, as containers have them.
private func hasBareFrames(_ pad: UnsafeMutablePointer<GstPad>) -> Bool {
    guard let caps = unsafe gst_pad_get_current_caps(pad) else { return false }
    defer { unsafe gst_shim_caps_unref(caps) }
    guard unsafe gst_caps_get_size(caps) > 0, let structure = unsafe gst_caps_get_structure(caps, 0),
        let format = unsafe gst_structure_get_string(structure, "stream-format")
    else { return false }
    return unsafe String(cString: format) == "raw"
}

/// Follows the frames of AAC with headers of ADTS, and takes the look of a header from what stands between them and would be
/// one of a frame that is too short.
struct ADTSGuard: Equatable {
    /// A byte to be put in another's place.
    struct Change: Equatable {
        var place: Int
        var byte: UInt8
    }

    private enum Header {
        case none, broken
        case frame(length: Int)
    }

    /// As much of a header as says how long its frame is.
    private static let header = 6
    /// Bytes that have gone by, fewer than a header has.
    private var last: [UInt8] = []
    /// Bytes to where the next header is expected; nil if none was found.
    private var distance: Int?
    /// True if a header stood where one was expected: what lies in such frames is not looked at.
    private var isInStep = false

    /// Looks at the bytes that follow, and says what to change in them.
    mutating func pass(_ bytes: [UInt8]) -> [Change] {
        var all = last + bytes
        var changes: [Change] = []
        var place = 0
        while true {
            if isInStep, let left = distance {
                let step = min(left, all.count - place)
                (place, distance) = (place + step, left - step)
            }
            guard place + Self.header <= all.count else { break }
            switch Self.header(all[place..<place + Self.header]) {
            case .frame(let length) where distance == 0:
                (distance, isInStep) = (length, true)
                continue
            case .frame(let length): distance = distance ?? length
            case .broken:
                let change = Self.repair(all, at: place, gone: last.count)
                all[change.place] = change.byte
                changes.append(Change(place: change.place - last.count, byte: change.byte))
            case .none: break
            }
            if distance == 0 { (distance, isInStep) = (nil, false) }
            distance = distance.map { $0 - 1 }
            place += 1
        }
        last = Array(all[place...])
        return changes
    }

    private static func header(_ bytes: ArraySlice<UInt8>) -> Header {
        let bytes = Array(bytes)
        guard bytes[0] == 0xFF, bytes[1] & 0xF6 == 0xF0, bytes[2] >> 2 & 15 < 15 else { return .none }
        let length = Int(bytes[3] & 3) << 11 | Int(bytes[4]) << 3 | Int(bytes[5] >> 5)
        return length < (bytes[1] & 1 != 0 ? 7 : 9) ? .broken : .frame(length: length)
    }

    /// What to change for that no header, or one of a longer frame, stands at `place`; the first `gone` bytes cannot be.
    private static func repair(_ bytes: [UInt8], at place: Int, gone: Int) -> Change {
        if place + 1 >= gone { return Change(place: place + 1, byte: 0) }
        if place + 4 >= gone { return Change(place: place + 4, byte: 0xFF) }
        return Change(place: place + 5, byte: bytes[place + 5] | 0xE0)
    }
}
