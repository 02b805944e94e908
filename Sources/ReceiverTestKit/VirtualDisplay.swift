// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// An X server without a screen, whose picture can be read at any time. The picture's marks are those of the videos that
/// `Tests/Support/make-media.sh` makes. It does not know who draws.
@safe package final class VirtualDisplay: Sendable {
    /// What a program needs in its environment, such as `:99`.
    package let name: String
    private let folder: String
    /// The group of the server and its keeper.
    private let process: pid_t
    private let pixels: Pixels

    /// The server ends by itself after this time, in seconds, if the tests do not come to their end.
    private static let lifetime = 1800
    /// The servers to end with this process.
    private static let processes = Mutex<[(process: pid_t, name: String)]>([])

    /// One for all tests that only look: a program that goes on for a moment after its test then loses nothing.
    package static let shared = VirtualDisplay()

    /// Where the server keeps its picture, mapped into this process.
    @safe private struct Pixels: @unchecked Sendable {
        // Bytes that another process writes; a torn picture has no number.
        let bytes: UnsafePointer<UInt8>
        let count: Int
        let start: Int
        let lineBytes: Int
    }

    /// Starts a server; nil if there is no Xvfb, or no place for its picture.
    package init?(width: Int = 640, height: Int = 360) {
        var template = Array("/tmp/linnet-display-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { return nil }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let command =
            "echo $$; exec timeout -s KILL \(Self.lifetime) Xvfb -displayfd 1 -screen 0 \(width)x\(height)x24"
            + " -fbdir \(folder) -nolisten tcp -noreset 2>/dev/null"
        guard let pipe = unsafe popen(command, "r"), let process = unsafe Self.number(pipe),
            let display = unsafe Self.number(pipe), let pixels = Self.map("\(folder)/Xvfb_screen0")
        else { return nil }
        (self.process, self.pixels, name) = (pid_t(process), pixels, ":\(display)")
        let isFirst = Self.processes.withLock { processes in
            processes.append((pid_t(process), ":\(display)"))
            return processes.count == 1
        }
        if isFirst { atexit { VirtualDisplay.endAll() } }
    }

    private static func endAll() { processes.withLock { for (process, name) in $0 { end(process, name) } } }

    deinit {
        Self.end(process, name)
        Self.processes.withLock { $0.removeAll { $0.process == process } }
        _ = unsafe unlink("\(folder)/Xvfb_screen0")
        _ = unsafe rmdir(folder)
    }

    /// Lets the server stand, or go on: it answers nobody meanwhile.
    package func setStopped(_ isStopped: Bool) { kill(-process, isStopped ? SIGSTOP : SIGCONT) }

    /// Ends the server: whoever is connected to it loses the connection.
    package func end() { Self.end(process, name) }

    /// By force: threads of tests have signals blocked, and what they start inherits that.
    private static func end(_ process: pid_t, _ name: String) {
        kill(-process, SIGKILL)
        _ = unsafe unlink("/tmp/.X\(name.dropFirst())-lock")
        _ = unsafe unlink("/tmp/.X11-unix/X\(name.dropFirst())")
    }

    private static func number(_ pipe: UnsafeMutablePointer<FILE>) -> Int? {
        var line = [CChar](repeating: 0, count: 32)
        guard unsafe fgets(&line, 32, pipe) != nil else { return nil }
        return Int(String(decoding: line.prefix { $0 > 32 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    private static func map(_ path: String) -> Pixels? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let size = Int(lseek(file, 0, SEEK_END))
        guard size > 100, let map = unsafe mmap(nil, size, PROT_READ, MAP_SHARED, file, 0),
            unsafe map != MAP_FAILED
        else { return nil }
        let bytes = unsafe UnsafePointer(map.assumingMemoryBound(to: UInt8.self))
        // The header of XWD: numbers of 32 bits, big endian; colours of 12 bytes follow it.
        func field(_ index: Int) -> Int {
            (0..<4).reduce(0) { unsafe $0 << 8 | Int(bytes[index * 4 + $1]) }
        }
        return unsafe Pixels(
            bytes: bytes, count: size, start: field(0) + field(19) * 12, lineBytes: field(12))
    }

    // MARK: Looking

    /// The blue of a pixel, 0 to 255.
    package func blue(_ x: Int, _ y: Int) -> UInt8 {
        let place = pixels.start + y * pixels.lineBytes + x * 4
        guard place < pixels.count else { return 0 }
        return unsafe pixels.bytes[place]
    }

    /// The number of the picture that is shown; nil if there is none, or if it is just being drawn.
    package var number: Int? {
        var number = 0
        for bit in 0..<10 {
            let (mark, opposite) = (blue(16 + 32 * bit, 16), blue(16 + 32 * bit, 48))
            if mark > 160, opposite < 96 {
                number |= 1 << bit
            } else if mark >= 96 || opposite <= 160 {
                return nil
            }
        }
        return number
    }

    /// Pixels of the lower half, where videos are grey, that something else covers.
    package var covered: Int {
        var count = 0
        for y in stride(from: 96, to: 178, by: 2) {
            for x in stride(from: 0, to: 320, by: 2) where !(96...160).contains(blue(x, y)) { count += 1 }
        }
        return count
    }

    /// Waits until the display is as wanted, at most `limit`; false if that does not come. A picture in memory has no
    /// event to wait for, so it is looked at again every millisecond.
    package func shows(
        within limit: Duration = .seconds(20), _ isWanted: (VirtualDisplay) -> Bool
    ) async -> Bool {
        let end = ContinuousClock.now + limit
        while !isWanted(self) {
            guard ContinuousClock.now < end else { return false }
            try? await Task.sleep(for: .milliseconds(1))
        }
        return true
    }

    /// A picture and when it was first seen, in nanoseconds of the monotonic clock.
    package struct Sighting: Sendable {
        package let number: Int
        package let time: Int64
    }

    /// Watches on a thread of its own, several times a millisecond, until `seconds` have passed.
    package func watch(for length: Duration) async -> [Sighting] {
        await withCheckedContinuation { continuation in
            Thread.start { continuation.resume(returning: self.watchNow(for: length)) }
        }
    }

    private func watchNow(for length: Duration) -> [Sighting] {
        let end = SimulatedCard.now + Int64(length / .nanoseconds(1))
        var sightings: [Sighting] = []
        while true {
            let time = SimulatedCard.now
            guard time < end else { return sightings }
            if let number, number != sightings.last?.number {
                sightings.append(Sighting(number: number, time: time))
            }
            usleep(300)
        }
    }
}

/// A thread for work that must not share one.
private enum Thread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    static func start(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
        let status = unsafe pthread_create(
            &thread, nil,
            {
                unsafe Unmanaged<Work>.fromOpaque($0!).takeRetainedValue().body()
                return nil
            }, work)
        guard status == 0 else { return unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
        pthread_detach(thread)
    }
}
