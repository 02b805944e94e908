// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import Glibc
import PlacementSensors
import ReceiverRuntime
import SwitchingCore
import Testing

/// The sensors on a loop of their own, with a pipe in the place of the kernel's device: it carries the same records.
private actor Scene {
    private nonisolated let loop = GLibLoop(named: "sensors")
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    nonisolated let folder: String
    nonisolated let readings: AsyncStream<PlacementReading>
    private let input: AsyncStream<PlacementReading>.Continuation
    private var sensors: InputPlacementSensors?

    init() throws {
        var template = Array("/tmp/linnet-sensor-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        (readings, input) = AsyncStream.makeStream(of: PlacementReading.self)
    }

    deinit {
        _ = unsafe unlink("\(folder)/event0")
        _ = unsafe rmdir(folder)
    }

    func start(_ rules: [String], device: String? = nil) {
        var configuration = InputPlacementSensors.Configuration(
            device: device ?? "\(folder)/event0", rules: rules.compactMap { SensorRule($0) })
        configuration.folder = folder
        let sensors = InputPlacementSensors(configuration)
        self.sensors = sensors
        sensors.start { [input] in input.yield($0) }
    }

    func end() {
        sensors?.shutDown()
        sensors = nil
        input.finish()
    }

    /// Plugs the device in. Who writes to it has the number.
    nonisolated func plug() throws -> Int32 {
        try #require(unsafe mkfifo("\(folder)/making", 0o600) == 0)
        // For both ends, so that it is there before its reader.
        let writer = unsafe open("\(folder)/making", O_RDWR | O_CLOEXEC)
        try #require(writer >= 0)
        try #require(unsafe rename("\(folder)/making", "\(folder)/event0") == 0)
        return writer
    }

    nonisolated func unplug(_ writer: Int32) {
        _ = unsafe unlink("\(folder)/event0")
        _ = close(writer)
    }
}

private func write(_ bytes: [UInt8], to descriptor: Int32) {
    _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
}

@Suite(.timeLimit(.minutes(1))) struct `Sensors on an input device` {
    @Test func `tell where the device is, and each change once`() async throws {
        let scene = try Scene()
        let device = try scene.plug()
        await scene.start(["SW_11=onHead"])
        var readings = scene.readings.makeAsyncIterator()
        #expect(await readings.next() == .placement(nil))
        write(moved(11, true), to: device)
        #expect(await readings.next() == .placement(.onHead))
        write(moved(11, true) + moved(4, true) + moved(11, false), to: device)
        #expect(await readings.next() == .placement(.offHead))
        await scene.end()
        scene.unplug(device)
    }

    @Test func `know one ear from two, and jacks beside them`() async throws {
        let scene = try Scene()
        let device = try scene.plug()
        await scene.start(["SW_11=inEar", "!SW_0=inEar", "SW_2=jack:Headphones"])
        var readings = scene.readings.makeAsyncIterator()
        #expect(await readings.next() == .placement(nil))
        write(moved(11, true), to: device)
        #expect(await readings.next() == .placement(.inEar))
        // The other ear, too; then one of them falls out.
        write(moved(0, false) + moved(11, false) + moved(2, true), to: device)
        #expect(await readings.next() == .jack(name: "Headphones", isPlugged: true))
        write(moved(0, true), to: device)
        #expect(await readings.next() == .placement(.offHead))
        await scene.end()
        scene.unplug(device)
    }

    @Test func `wait for a device that comes, goes and comes again`() async throws {
        let scene = try Scene()
        await scene.start(["SW_11=onHead"])
        var readings = scene.readings.makeAsyncIterator()
        func isUnavailable(_ reading: PlacementReading?) -> Bool {
            if case .unavailable = reading { true } else { false }
        }
        let first = await readings.next()
        #expect(isUnavailable(first))
        for _ in 0..<2 {
            let device = try scene.plug()
            #expect(await readings.next() == .placement(nil))
            write(moved(11, true), to: device)
            #expect(await readings.next() == .placement(.onHead))
            scene.unplug(device)
            let gone = await readings.next()
            #expect(isUnavailable(gone))
            // The next look finds that it is not there, which is another reason.
            let absent = await readings.next()
            #expect(isUnavailable(absent))
        }
        await scene.end()
    }

    @Test func `say that no device has the name`() async throws {
        let scene = try Scene()
        let device = try scene.plug()
        await scene.start(["SW_11=onHead"], device: "gpio-keys")
        var readings = scene.readings.makeAsyncIterator()
        #expect(
            await readings.next() == .unavailable(reason: "no input device is named gpio-keys"))
        await scene.end()
        scene.unplug(device)
    }
}
