// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import GLibLoop
import InputDevices
import RouteKit

/// A key of an input device that has to be held for a while, so that nobody resets a device by accident.
@RouteActor final class DeviceButton {
    private let control: InputControl
    private let duration: Duration
    private var device: InputDevice?
    private var reading: EventSource?
    private var timer: EventSource?
    private let end: AsyncStream<Bool>.Continuation

    private init(
        _ control: InputControl, _ duration: Duration, _ device: consuming InputDevice,
        _ end: AsyncStream<Bool>.Continuation
    ) {
        (self.control, self.duration, self.end) = (control, duration, end)
        let descriptor = device.descriptor
        self.device = consume device
        // Pressed as the device starts counts from now on.
        if self.device?.isOn(control) == true { press() }
        reading = EventSource.descriptor(descriptor, .readable) { [weak self] in self?.receive() }
    }

    /// Returns true once the key was held that long without a break, false when the device is gone.
    static func waitUntilHeld(
        _ path: String, key: String, for duration: Duration
    ) async throws(CommandFailure) -> Bool {
        guard let control = InputControl(named: key) else {
            throw CommandFailure(
                .usage, "'\(key)' is no key", advice: "Write KEY_ and its number, such as KEY_408.")
        }
        let (ends, end) = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingOldest(1))
        let button: DeviceButton
        do throws(InputDevice.Failure) {
            button = DeviceButton(control, duration, try InputDevice(opening: path), end)
        } catch {
            throw CommandFailure(.failure, "\(path): \(error)")
        }
        var wasHeld = false
        for await answer in ends { wasHeld = answer }
        button.close()
        return wasHeld
    }

    private func receive() {
        guard let events = device?.read() else { return conclude(false) }
        for event in events {
            switch event {
            case .changed(control, let isOn): isOn ? press() : release()
            case .changed: break
            case .lost: device?.isOn(control) == true ? press() : release()
            }
        }
    }

    private func press() {
        guard timer == nil else { return }
        timer = EventSource.after(duration) { [weak self] in self?.conclude(true) }
    }

    private func release() {
        timer?.destroy()
        timer = nil
    }

    private func conclude(_ wasHeld: Bool) {
        end.yield(wasHeld)
        end.finish()
        close()
    }

    private func close() {
        release()
        reading?.destroy()
        reading = nil
        device = nil
    }
}
