// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer

extension Element {
    /// Lets the times that this demuxer of MP4 gives go on where those in the media jump, as they do between the parts of an
    /// adaptive stream that come from different encoders: GStreamer's demuxer of HLS (1.22) finds the right place after a
    /// move, but passes such a jump on, so that what follows is told at a wrong place, or dropped for being before the move.
    package func joinTimes() {
        connect("pad-added") { arguments in
            guard let added = unsafe arguments.object(1) else { return 0 }
            let pad = unsafe gst_shim_pad(added)!
            guard unsafe gst_pad_get_direction(pad) == GST_PAD_SRC else { return 0 }
            let type = GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue
            unsafe gst_pad_add_probe(
                pad, GstPadProbeType(rawValue: type),
                { _, information, data in
                    let box = unsafe Unmanaged<JointBox>.fromOpaque(data!).takeUnretainedValue()
                    unsafe box.look(at: information!)
                    return GST_PAD_PROBE_OK
                }, unsafe Unmanaged.passRetained(JointBox()).toOpaque(),
                { unsafe Unmanaged<JointBox>.fromOpaque($0!).release() })
            return 0
        }
    }
}

/// What one pad's probe knows; used by the thread that holds the pad's stream lock.
private final class JointBox {
    private var joint = TimeJoint()

    func look(at information: UnsafeMutablePointer<GstPadProbeInfo>) {
        if unsafe gst_shim_probe_type(information) & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue != 0 {
            if let event = unsafe gst_shim_probe_event(information),
                unsafe gst_shim_event_type(event) == GST_EVENT_SEGMENT
            {
                joint = TimeJoint()
            }
            return
        }
        guard let buffer = unsafe gst_shim_probe_buffer(information) else { return }
        let time = unsafe gst_shim_buffer_pts(buffer)
        guard time != gst_shim_no_time() else { return }
        let length = unsafe gst_shim_buffer_duration(buffer)
        let shift = joint.shift(
            at: Int64(clamping: time), length: length == gst_shim_no_time() ? 0 : Int64(clamping: length),
            mayJump: unsafe gst_shim_buffer_is_discontinuity(buffer) != 0)
        guard shift != 0, let own = unsafe gst_shim_make_writable(buffer) else { return }
        unsafe information.pointee.data = UnsafeMutableRawPointer(own)
        unsafe gst_shim_set_buffer_pts(own, TimeJoint.moved(time, by: shift))
        let decoding = unsafe gst_shim_buffer_dts(own)
        if decoding != gst_shim_no_time() {
            unsafe gst_shim_set_buffer_dts(own, TimeJoint.moved(decoding, by: shift))
        }
    }
}

/// Follows the times of a stream, in nanoseconds, and says by how much to move them.
struct TimeJoint: Equatable {
    /// Times go back by less where frames are not in the order in which they are shown.
    private static let unevenness: Int64 = 1_000_000_000
    /// Parts that are missing leave a hole up to this.
    private static let hole: Int64 = 60_000_000_000

    private static let latest = Int64.max / 4

    private var end: Int64?
    private var shift: Int64 = 0

    /// `mayJump`: what comes does not follow what came before.
    mutating func shift(at time: Int64, length: Int64, mayJump: Bool) -> Int64 {
        // Times beyond all that can be told are left alone.
        let time = min(time, Self.latest)
        if mayJump, let end, time < end - Self.unevenness || time > end + Self.hole {
            shift = min(max(shift + end - time, -Self.latest), Self.latest)
        }
        end = time + min(max(length, 0), Self.hole)
        return shift
    }

    static func moved(_ time: GstClockTime, by shift: Int64) -> GstClockTime {
        let (moved, isTooMuch) = Int64(clamping: time).addingReportingOverflow(shift)
        return isTooMuch ? time : GstClockTime(max(0, moved))
    }
}
