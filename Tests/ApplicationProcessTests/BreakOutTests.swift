// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import ApplicationProcess
import Glibc
import MediaModel
import Settings
import Testing

/// What a program tries from inside to get out, or to take more than its share: each try ends at a wall, and another
/// application is as well as before.
@Suite(.timeLimit(.minutes(1)))
struct BreakOutTests {
    private let stage: HostStage

    init() throws { stage = try HostStage() }

    /// Two applications, of which the second must stay well.
    private func start(_ members: String = "") async throws {
        try stage.install("org.example.neighbour", #""permissions":["storage"]"#)
        try await stage.running("one", members)
        await stage.launch("two", "org.example.neighbour")
        await stage.expect("two", "open('/storage/secret', 'w').write('mine')", "done")
        await stage.expect("one", "pass", "done")
    }

    private func neighbourIsWell() async {
        let began = ContinuousClock.now
        await stage.expect("two", "result = open('/storage/secret').read()", "mine")
        #expect(ContinuousClock.now - began < .seconds(20))
    }

    @Test func `files of the host and of other applications are not there`() async throws {
        try await start(#""permissions":["storage"]"#)
        for path in [
            "/etc/passwd", "/etc/shadow", "/etc/hostname", "/home", "/root", "/var", "/run", "/sys", "/boot",
            "/srv",
            stage.root, "\(stage.storage)/org.example.neighbour/secret", "/storage/../storage/secret",
            "/proc/1/root/etc/passwd", "/dev/mem", "/dev/snd", "/dev/kmsg",
        ] {
            let answer = await stage.ask("one", "result = os.stat('\(path)')")
            #expect(["FileNotFoundError", "PermissionError"].contains(answer), "\(path): \(answer ?? "")")
        }
        await stage.expect("one", "result = os.listdir('/storage')", "[]")
    }

    @Test func `nothing is written but storage and what is private`() async throws {
        try await start()
        for folder in ["/", "/usr", "/usr/bin", "/etc", "/application", "/dev", "/proc/sys/kernel"] {
            let answer = await stage.ask("one", "open('\(folder)/x', 'w')")
            #expect(
                ["OSError", "PermissionError", "FileNotFoundError"].contains(answer),
                "\(folder): \(answer ?? "")")
        }
        await stage.expect("one", "open('/proc/sys/kernel/hostname', 'w')", "OSError")
        await stage.expect("one", "os.write(os.open('/proc/self/oom_score_adj', 1), b'0')", "OSError")
        await stage.expect("one", "open('/tmp/x', 'w').write('x')", "done")
        await stage.expect("two", "result = os.path.exists('/tmp/x')", "False")
    }

    @Test func `other processes are neither seen nor reached`() async throws {
        try await start()
        let names =
            "result = sorted(open(f'/proc/{p}/comm').read().strip() for p in os.listdir('/proc') if p.isdigit())"
        await stage.expect("one", names, "['bwrap', 'main']")
        await stage.expect("one", "result = len(open('/proc/1/environ').read())", "0")
        for process in [Machine.processIdentifier] + stage.processes() {
            await stage.expect("one", "os.kill(\(process), 9)", "ProcessLookupError")
            await stage.expect("one", "open('/proc/\(process)/mem')", "FileNotFoundError")
        }
        await neighbourIsWell()
    }

    @Test func `no calls lead to other memory, namespaces, mounts or memory of nobody`() async throws {
        try await start()
        let calls = """
            import ctypes
            libc = ctypes.CDLL(None, use_errno=True)
            def errno(name, *arguments):
                ctypes.set_errno(0)
                return 0 if getattr(libc, name)(*arguments) >= 0 else ctypes.get_errno()
            result = [errno('ptrace', 16, 1, 0, 0), errno('unshare', 0x10000000), errno('setns', 0, 0),
                errno('mount', b'none', b'/tmp', b'tmpfs', 0, None), errno('chroot', b'/tmp'), errno('memfd_create', b'x', 0),
                errno('shmget', 0, 65536, 0o1600), errno('personality', 0x0040000), errno('setuid', 0),
                errno('sethostname', b'x', 1), errno('nice', -5)]
            """
        await stage.expect("one", calls, "[1, 1, 1, 1, 1, 1, 1, 1, 22, 1, 1]")
        let status = """
            fields = dict(line.split(':', 1) for line in open('/proc/self/status'))
            result = [fields[name].strip() for name in ('CapPrm', 'CapEff', 'CapBnd', 'NoNewPrivs', 'Seccomp')]
            """
        let none = "'0000000000000000'"
        await stage.expect("one", status, "[\(none), \(none), \(none), '1', '2']")
        await stage.expect("one", "result = os.getuid() == 0 or os.getgroups()", "[]")
    }

    @Test func `without permission there is no network`() async throws {
        try await start()
        let port = try TestPort()
        await stage.expect(
            "one", "socket.create_connection(('127.0.0.1', \(port.number)), 2)", "ConnectionRefusedError")
        await stage.expect("one", "socket.create_connection(('192.0.2.1', 80), 2)", "OSError")
        await stage.expect("one", "socket.getaddrinfo('example.org', 80)", "gaierror")
        // What listens there is heard by nobody outside.
        let listen =
            "import builtins\nbuiltins.s = socket.create_server(('127.0.0.1', 0)); result = s.getsockname()[1]"
        let own = try #require(Int(await stage.ask("one", listen) ?? ""))
        #expect(!TestPort.isReached(own))
        await stage.expect("one", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", "PermissionError")
        await stage.expect("one", "socket.socket(17, 3)", "PermissionError")
    }

    @Test func `with the network there are connections out and no servers`() async throws {
        try await start(#""permissions":["network"]"#)
        let port = try TestPort()
        await stage.expect("one", "socket.create_connection(('127.0.0.1', \(port.number)), 2)", "done")
        await stage.expect("one", "result = socket.getaddrinfo('localhost', 80)[0][4][1]", "80")
        await stage.expect("one", "socket.create_server(('127.0.0.1', 0))", "PermissionError")
        await stage.expect("one", "socket.socket().listen()", "PermissionError")
        await stage.expect(
            "one", "socket.socket(type=socket.SOCK_DGRAM).bind(('0.0.0.0', 0))", "PermissionError")
        await stage.expect("one", "socket.socket(socket.AF_INET6).bind(('::', 0))", "PermissionError")
        await stage.expect("one", "socket.socket(socket.AF_UNIX)", "PermissionError")
        await stage.expect("one", "socket.socketpair()", "done")
        await stage.expect("one", "socket.socket(17, 3)", "PermissionError")
        await stage.expect("one", "result = len(open('/etc/resolv.conf').read()) >= 0", "True")
        await stage.expect("one", "open('/etc/passwd')", "FileNotFoundError")
    }

    @Test func `a fork bomb comes to the end of its processes`() async throws {
        try await start(#""limits":{"processes":20}"#)
        let bomb = """
            count = 0
            try:
                while True:
                    if os.fork() == 0:
                        time.sleep(1000)
                    count += 1
            except OSError as fault:
                result = f"{count} {fault.errno}"
            """
        await stage.expect("one", bomb, "19 11")
        await neighbourIsWell()
        await stage.kill("one")
        #expect(await stage.exit(of: "one")?.cause == .signal(9))
    }

    @Test func `a memory hog is ended, alone or in many processes`() async throws {
        try await start(#""limits":{"memory":33554432}"#)
        await stage.tell("one", "kept = []\nwhile True: kept.append(bytearray(1 << 20)); time.sleep(0.01)")
        let alone = await stage.exit(of: "one")
        #expect(alone?.cause == .limit("more than 32 MiB of memory"), "\(String(describing: alone))")
        await stage.launch("three")
        await stage.tell(
            "three", "for n in range(7): os.fork()\nkept = bytearray(4 << 20)\ntime.sleep(1000)")
        let many = await stage.exit(of: "three")
        #expect(many?.cause == .limit("more than 32 MiB of memory"), "\(String(describing: many))")
        await neighbourIsWell()
    }

    @Test func `a hog that is quicker than the looks gets an error from the kernel`() async throws {
        try await start(#""limits":{"memory":33554432}"#)
        await stage.expect("one", "bytearray(200 << 20)", "MemoryError")
        await stage.expect(
            "one", "import mmap\nmmap.mmap(-1, 200 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)",
            "OSError")
        await neighbourIsWell()
    }

    @Test func `memory that is a file ends early`() async throws {
        try await start(#""limits":{"memory":33554432}"#)
        for folder in ["/tmp", "/dev/shm"] {
            let fill = """
                try:
                    for n in range(100):
                        with open(f'\(folder)/{n}', 'wb') as file: file.write(bytes(1 << 20))
                except OSError as fault:
                    result = f"{n} {fault.errno}"
                """
            await stage.expect("one", fill, "4 28")
        }
        await neighbourIsWell()
    }

    @Test func `a disk filler is ended, also one whose files have no name`() async throws {
        try await start(#""permissions":["storage"],"limits":{"storage":2097152}"#)
        let large =
            "open('/storage/large', 'wb', buffering=0).write(bytes(16 << 20))\nresult = os.path.getsize('/storage/large')"
        await stage.expect("one", large, "2097152")
        await stage.expect("one", "os.remove('/storage/large')", "done")
        await stage.tell(
            "one", "for n in range(8): open(f'/storage/{n}', 'wb').write(bytes(1 << 20))\ntime.sleep(1000)")
        #expect(await stage.exit(of: "one")?.cause == .limit("more than 2048 KiB of storage"))
        await stage.launch("three")
        await stage.tell(
            "three",
            """
            for n in range(8): os.path.exists(f'/storage/{n}') and os.remove(f'/storage/{n}')
            kept = []
            for n in range(8):
                kept.append(open('/storage/hidden', 'wb'))
                kept[-1].write(bytes(1 << 20)); kept[-1].flush()
                os.remove('/storage/hidden')
            time.sleep(1000)
            """)
        #expect(await stage.exit(of: "three")?.cause == .limit("more than 2048 KiB of storage"))
        await neighbourIsWell()
    }

    @Test func `a flood of lines fills no log`() async throws {
        try await start()
        await stage.tell("one", "while True: print('x' * 100)")
        let line = String(repeating: "x", count: 100)
        for _ in 0..<250 { await stage.log.waitFor(line) }
        let lines = stage.log.messages.count
        let began = ContinuousClock.now
        for _ in 0..<20 { await neighbourIsWell() }
        await stage.kill("one")
        _ = await stage.exit(of: "one")
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        #expect(stage.log.messages.count < lines + Int((seconds + 2) * 201) + 20)
    }

    @Test func `a flood of messages leaves others their turn`() async throws {
        try await start()
        await stage.tell("one", "while True: send(1, b'flood')")
        await stage.waitUntilFlooded(5_000, from: "one")
        for _ in 0..<20 { await neighbourIsWell() }
        await stage.kill("one", limit: "too many messages")
        #expect(await stage.exit(of: "one")?.cause == .limit("too many messages"))
    }

    @Test func `a program that does not read is ended before it costs memory without bound`() async throws {
        try await start()
        await stage.tell("one", "time.sleep(1000)")
        for _ in 0..<40 { await stage.send("one", [UInt8](repeating: 7, count: 1 << 20)) }
        let exit = await stage.exit(of: "one")
        #expect(exit?.cause == .signal(9))
        #expect(exit?.log.last == "(it does not read)")
        await neighbourIsWell()
    }
}

/// A server on the loopback interface.
final class TestPort: Sendable {
    private let descriptor: Int32
    let number: Int

    init() throws {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        descriptor = server
        var address = Self.address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(server, $0, length) == 0 && listen(server, 8) == 0
                    && getsockname(server, $0, &length) == 0
            }
        }
        try #require(isBound)
        number = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = in_addr_t(UInt32(0x7f00_0001).bigEndian)
        return address
    }

    /// True if somebody of this host listens there.
    static func isReached(_ port: Int) -> Bool {
        let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(probe) }
        var address = address(port)
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(probe, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
