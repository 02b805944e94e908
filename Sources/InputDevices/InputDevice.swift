// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CInput
import Glibc

/// One of the kernel's input devices, opened without blocking. Moving it moves the descriptor; dropping it closes it.
@safe package struct InputDevice: ~Copyable {
    package struct Failure: Error, Equatable, CustomStringConvertible {
        package let status: Int32
        package var description: String { unsafe strerror(status).map { unsafe String(cString: $0) } ?? "" }
    }

    /// Where the kernel has its devices.
    package static let folder = "/dev/input"

    /// For a loop to watch.
    package let descriptor: Int32
    private var events: InputEvents

    package init(opening path: String) throws(Failure) {
        let descriptor = unsafe input_shim_open(path)
        guard descriptor >= 0 else { throw Failure(status: errno) }
        self.descriptor = descriptor
        // Not where it is declared: the compiler of Swift 6.2.3 would have it destroyed when nothing was opened.
        events = InputEvents()
    }

    deinit { _ = close(descriptor) }

    /// What the device calls itself; nil if it is no input device.
    package var name: String? {
        var name = [UInt8](repeating: 0, count: 256)
        let count = unsafe name.withUnsafeMutableBytes {
            unsafe input_shim_name(descriptor, $0.baseAddress!.assumingMemoryBound(to: CChar.self), 255)
        }
        return count >= 0 ? String(decoding: name.prefix { $0 != 0 }, as: UTF8.self) : nil
    }

    /// Whether a control is on now; nil if the device does not have it, or cannot say.
    package func isOn(_ control: InputControl) -> Bool? {
        var (codes, state) = ([UInt8](repeating: 0, count: 96), [UInt8](repeating: 0, count: 96))
        let place = Int(control.code)
        guard place / 8 < codes.count else { return nil }
        let kind = control.kind == .switch ? EV_SW : EV_KEY
        guard unsafe input_shim_codes(descriptor, kind, &codes, Int32(codes.count)) >= 0,
            codes[place / 8] & 1 << UInt8(place % 8) != 0
        else { return nil }
        let status =
            control.kind == .switch
            ? unsafe input_shim_switches(descriptor, &state, Int32(state.count))
            : unsafe input_shim_keys(descriptor, &state, Int32(state.count))
        return status >= 0 ? state[place / 8] & 1 << UInt8(place % 8) != 0 : nil
    }

    /// What has happened since the last time; nil once the device is gone.
    package mutating func read() -> [InputEvents.Event]? {
        var bytes = [UInt8](repeating: 0, count: 64 * MemoryLayout<input_event>.size)
        let room = bytes.count
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe Glibc.read(descriptor, $0.baseAddress, room)
        }
        if count > 0 { return events.take(bytes[..<count]) }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? [] : nil
    }

    /// The devices that there are, as paths in `folder`.
    package static func paths(in folder: String = Self.folder) -> [String] {
        guard let handle = unsafe opendir(folder) else { return [] }
        defer { _ = unsafe closedir(handle) }
        var paths: [String] = []
        while let entry = unsafe readdir(handle) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix("event") { paths.append("\(folder)/\(name)") }
        }
        return paths.sorted()
    }
}
