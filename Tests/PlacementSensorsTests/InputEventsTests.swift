// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import InputDevices
import PlacementSensors
import SwitchingCore
import Testing

/// A record as the kernel writes it (struct input_event of a machine with words of 64 bits).
func record(type: UInt16, code: UInt16, value: Int32) -> [UInt8] {
    func bytes(_ value: UInt64, _ width: Int) -> [UInt8] {
        (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }
    return bytes(1_700_000_000, 8) + bytes(123_456, 8) + bytes(UInt64(type), 2) + bytes(UInt64(code), 2)
        + bytes(UInt64(UInt32(bitPattern: value)), 4)
}

/// A switch that was moved, with the end of the kernel's report.
func moved(_ code: UInt16, _ isOn: Bool) -> [UInt8] {
    record(type: 5, code: code, value: isOn ? 1 : 0) + record(type: 0, code: 0, value: 0)
}

@Suite struct `Records of the kernel` {
    private let insert = InputControl(.switch, 2)
    private let key = InputControl(.key, 163)

    @Test func `tell of switches and keys, and of nothing else`() {
        var events = InputEvents()
        let bytes =
            moved(2, true) + record(type: 1, code: 163, value: 1) + record(type: 1, code: 163, value: 2)
            + record(type: 1, code: 163, value: 0) + record(type: 3, code: 0, value: 500)
            + record(type: 4, code: 4, value: 163)
        #expect(
            events.take(bytes)
                == [.changed(insert, isOn: true), .changed(key, isOn: true), .changed(key, isOn: false)])
    }

    @Test func `are found in any portions`() {
        let bytes = moved(2, true) + moved(2, false) + moved(6, true)
        for size in 1...bytes.count {
            var events = InputEvents()
            var found: [InputEvents.Event] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                found += events.take(bytes[start..<min(start + size, bytes.count)])
            }
            #expect(
                found == [
                    .changed(insert, isOn: true), .changed(insert, isOn: false),
                    .changed(InputControl(.switch, 6), isOn: true),
                ])
        }
    }

    @Test func `after a loss count from the next report on`() {
        var events = InputEvents()
        let bytes = record(type: 0, code: 3, value: 0) + moved(2, true) + moved(2, false)
        #expect(events.take(bytes) == [.lost, .changed(insert, isOn: false)])
    }

    @Test func `of any bytes never trap, and keep less than one record`() {
        var events = InputEvents()
        for seed in 0..<2_000 {
            let bytes = (0..<seed % 50).map { UInt8(truncatingIfNeeded: seed &* 31 &+ $0 &* 7) }
            #expect(events.take(bytes).count <= 3)
        }
    }
}

@Suite struct `A rule of a sensor` {
    @Test func `names a control and what it means`() {
        let proximity = InputControl(.switch, 11)
        #expect(SensorRule("SW_FRONT_PROXIMITY=onHead") == SensorRule(proximity, .placement(.onHead)))
        #expect(SensorRule("!SW_11=inEar") == SensorRule(proximity, isInverted: true, .placement(.inEar)))
        #expect(
            SensorRule("KEY_163=jack:Line Out")
                == SensorRule(InputControl(.key, 163), .jack(name: "Line Out")))
    }

    @Test(
        arguments: [
            "", "=", "SW_2", "SW_2=", "SW_2=offHead", "SW_2=ear", "SW_2=jack:", "SW_17=onHead",
            "KEY_800=onHead",
            "SW_-1=onHead", "SW_X=onHead", "KEY_=onHead", "!=onHead",
        ])
    func `is nothing else`(text: String) { #expect(SensorRule(text) == nil) }
}
