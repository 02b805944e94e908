// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import Glibc

/// What a child takes from itself before its program begins, for good and with all that it starts. It gains no
/// privileges, dumps no core, has no real-time priority and locks no memory in any case.
package struct ChildBounds: Equatable, Sendable {
    package struct User: Equatable, Sendable {
        package let user: UInt32
        package let group: UInt32
        package init(user: UInt32, group: UInt32) { (self.user, self.group) = (user, group) }
    }

    /// Bytes of memory of its own that each process may have.
    package var memory: Int?
    /// Bytes of each file.
    package var fileSize: Int?
    /// Open files of each process.
    package var files: Int?
    package var nice: Int?
    /// From 0 to 999: who is ended first when the machine has no memory left.
    package var outOfMemoryScore: Int?
    /// Who it becomes, without further groups. Only root can.
    package var user: User?
    /// The control group that it joins.
    package var controlGroup: String?
    /// True: it leads a session and a group of processes of its own.
    package var hasOwnSession = false
    /// True: it is killed when the thread that started it ends.
    package var diesWithParent = false

    package init() {}

    func set(on launcher: OpaquePointer) {
        var bounds = unsafe glib_shim_bounds()
        unsafe bounds.memory = Int64(memory ?? -1)
        unsafe bounds.file_size = Int64(fileSize ?? -1)
        unsafe bounds.files = Int64(files ?? -1)
        unsafe bounds.user = user.map { Int64($0.user) } ?? -1
        unsafe bounds.group = user.map { Int64($0.group) } ?? -1
        unsafe bounds.nice = Int32(clamping: nice ?? -1)
        unsafe bounds.oom_score = Int32(clamping: outOfMemoryScore ?? -1)
        unsafe bounds.own_session = hasOwnSession ? 1 : 0
        unsafe bounds.dies_with_parent = diesWithParent ? 1 : 0
        if let controlGroup {
            unsafe glib_shim_set_bounds(launcher, &bounds, "\(controlGroup)/cgroup.procs")
        } else {
            unsafe glib_shim_set_bounds(launcher, &bounds, nil)
        }
    }
}

/// Descriptors for a child, in the order of the numbers that they get there. Those that no child took are closed.
package struct Inheritance: ~Copyable {
    private var numbers: [Int32] = []

    package init() {}

    package mutating func add(_ descriptor: consuming Descriptor) { numbers.append(descriptor.take()) }

    /// Adds another number of what stays open for its other holders.
    package mutating func add(_ descriptor: SharedDescriptor) throws(Failure) {
        let number = fcntl(descriptor.number, F_DUPFD_CLOEXEC, 3)
        guard number >= 0 else { throw Failure(errno: errno, in: "fcntl") }
        numbers.append(number)
    }

    deinit { for number in numbers { _ = close(number) } }

    /// Gives the numbers away; whoever takes them closes them.
    mutating func take() -> [Int32] {
        defer { numbers = [] }
        return numbers
    }
}

extension Descriptor {
    /// The reading end of a pipe that holds `bytes` and then ends; they must be fewer than 64 KiB.
    package static func holding(_ bytes: [UInt8]) throws(Failure) -> Descriptor {
        var pair: [Int32] = [-1, -1]
        guard unsafe glib_shim_pipe(&pair) == 0 else { throw Failure(errno: errno, in: "pipe") }
        let reading = Descriptor(adopting: pair[0])
        let writing = Descriptor(adopting: pair[1])
        let count = unsafe bytes.withUnsafeBytes { unsafe write(writing.number, $0.baseAddress, $0.count) }
        guard count == bytes.count else { throw Failure(errno: EAGAIN, in: "pipe") }
        return reading
    }
}
