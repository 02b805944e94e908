// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import InputDevices
package import ReceiverRuntime
import SwitchingCore

/// Reads where the device is worn, and what is plugged into it, from the switches of one input device. The device may come and go: it is
/// looked for again whenever something changes in the kernel's folder. Made and used on a loop.
package final class InputPlacementSensors: PlacementSensors {
    package struct Configuration: Sendable {
        /// A path, or the name that the device has for itself.
        package var device: String
        package var rules: [SensorRule]
        /// Where the kernel has its devices.
        package var folder = InputDevice.folder

        /// At most `SensorRule.limit` rules count.
        package init(device: String, rules: [SensorRule]) {
            (self.device, self.rules) = (device, Array(rules.prefix(SensorRule.limit)))
        }
    }

    /// The permissions of a new device are set a little after it came.
    private static let settling = Duration.milliseconds(50)

    private let configuration: Configuration
    private var report: ((PlacementReading) -> Void)?
    private var watch: FolderWatch?
    private var device: InputDevice?
    private var reading: EventSource?
    /// The controls that are known, and whether they are on.
    private var states: [InputControl: Bool] = [:]
    /// What was told last of each thing.
    private var toldPlacement: DevicePlacement??
    private var toldJacks: [String: Bool] = [:]
    private var toldReason: String?

    package init(_ configuration: Configuration) { self.configuration = configuration }

    package func start(report: @escaping (PlacementReading) -> Void) {
        self.report = report
        watch = FolderWatch(settling: Self.settling) { [weak self] in self?.look() }
        watch?.add(configuration.folder)
        look()
    }

    package func shutDown() {
        (report, watch) = (nil, nil)
        close()
    }

    // MARK: The device

    /// Opens the device, if it is there and not open.
    private func look() {
        watch?.add(configuration.folder)
        guard report != nil, reading == nil else { return }
        if configuration.device.hasPrefix("/") {
            do throws(InputDevice.Failure) {
                take(try InputDevice(opening: configuration.device))
            } catch { lose("\(configuration.device): \(error)") }
        } else {
            guard let path = findByName() else {
                return lose("no input device is named \(configuration.device)")
            }
            do throws(InputDevice.Failure) { take(try InputDevice(opening: path)) } catch {
                lose("\(path): \(error)")
            }
        }
    }

    private func findByName() -> String? {
        InputDevice.paths(in: configuration.folder).first { path in
            (try? InputDevice(opening: path))?.name == configuration.device
        }
    }

    private func take(_ opened: consuming InputDevice) {
        let descriptor = opened.descriptor
        device = consume opened
        reading = EventSource.descriptor(descriptor, .readable) { [weak self] in self?.receive() }
        toldReason = nil
        readAll()
    }

    private func lose(_ reason: String) {
        close()
        guard toldReason != reason else { return }
        toldReason = reason
        report?(.unavailable(reason: reason))
    }

    private func close() {
        reading?.destroy()
        reading = nil
        device = nil
        states = [:]
        (toldPlacement, toldJacks) = (nil, [:])
    }

    /// Asks the kernel how all the controls are.
    private func readAll() {
        states = [:]
        for rule in configuration.rules {
            if let isOn = device?.isOn(rule.control) { states[rule.control] = isOn }
        }
        tell()
    }

    private func receive() {
        guard let events = device?.read() else {
            lose("the input device is gone")
            // Another may be in its place already.
            return EventSource.once(after: Self.settling) { [weak self] in self?.look() }
        }
        for event in events {
            switch event {
            case .changed(let control, let isOn):
                guard configuration.rules.contains(where: { $0.control == control }) else { continue }
                states[control] = isOn
                tell()
            case .lost: readAll()
            }
        }
    }

    // MARK: What it means

    /// Reports what is otherwise than was told.
    private func tell() {
        let placement = placement
        if hasPlacement, toldPlacement != .some(placement) {
            toldPlacement = .some(placement)
            report?(.placement(placement))
        }
        for rule in configuration.rules {
            guard case .jack(let name) = rule.meaning, let isOn = states[rule.control] else { continue }
            let isPlugged = isOn != rule.isInverted
            guard toldJacks[name] != isPlugged else { continue }
            toldJacks[name] = isPlugged
            report?(.jack(name: name, isPlugged: isPlugged))
        }
    }

    private var hasPlacement: Bool {
        configuration.rules.contains { if case .placement = $0.meaning { true } else { false } }
    }

    /// The first that is on; not worn if all are off; nil if none is known.
    private var placement: DevicePlacement? {
        var isKnown = false
        for rule in configuration.rules {
            guard case .placement(let placement) = rule.meaning, let isOn = states[rule.control] else {
                continue
            }
            if isOn != rule.isInverted { return placement }
            isKnown = true
        }
        return isKnown ? .offHead : nil
    }
}
