// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Glibc
import Settings
import Testing

/// These set the process's environment and its error stream, so they run one after the other.
@Suite(.serialized) struct ProcessTests {
    @Test func `the boot's identity and the host's name are known`() {
        #expect(Machine.bootIdentifier?.count == 36)
        #expect(!Machine.hostName.isEmpty)
        #expect(!Machine.hostName.contains("."))
        #expect(Machine.makeUUID() != Machine.makeUUID())
    }

    @Test func `levels are ordered by urgency and have names`() {
        #expect(Journal.Level.error < .debug)
        #expect(Journal.Level(named: "notice") == .notice)
        #expect(Journal.Level(named: "loud") == nil)
    }

    @Test func `the service manager hears states as datagrams, at a path or an abstract name`() {
        #expect(!ServiceManager.ready())
        for name in ["@linnet-test-\(getpid())", "/tmp/linnet-test-\(getpid()).notify"] {
            let listener = bindDatagrams(name)
            defer {
                _ = close(listener)
                _ = unsafe unlink(name)
            }
            _ = unsafe setenv("NOTIFY_SOCKET", name, 1)
            #expect(ServiceManager.ready())
            #expect(ServiceManager.status("two\nlines"))
            _ = unsafe unsetenv("NOTIFY_SOCKET")
            #expect(receive(listener) == "READY=1")
            #expect(receive(listener) == "STATUS=two lines")
        }
    }

    @Test func `the watchdog is fed twice in its time, if it is ours`() {
        #expect(ServiceManager.watchdogInterval == nil)
        _ = unsafe setenv("WATCHDOG_USEC", "3000000", 1)
        #expect(ServiceManager.watchdogInterval == .milliseconds(1500))
        _ = unsafe setenv("WATCHDOG_PID", "1", 1)
        #expect(ServiceManager.watchdogInterval == nil)
        _ = unsafe unsetenv("WATCHDOG_PID")
        _ = unsafe setenv("WATCHDOG_USEC", "soon", 1)
        #expect(ServiceManager.watchdogInterval == nil)
        _ = unsafe unsetenv("WATCHDOG_USEC")
    }

    private func bindDatagrams(_ name: String) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // An abstract name begins with a NUL.
        let bytes = Array(name.utf8).map { $0 == UInt8(ascii: "@") ? 0 : $0 }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let bound = unsafe withUnsafePointer(to: &address) {
            unsafe bind(
                descriptor, UnsafeRawPointer($0).assumingMemoryBound(to: sockaddr.self), length)
        }
        #expect(bound == 0)
        return descriptor
    }

    private func receive(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 1000)
        let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return String(decoding: bytes[..<max(count, 0)], as: UTF8.self)
    }
}
