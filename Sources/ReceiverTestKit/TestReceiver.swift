// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import ApplicationModel
import MediaModel
package import ReceiverRuntime

/// A receiver between fakes. All of it runs in the test's own calls: after each act of a client everything that
/// follows at once has happened, and `settle` lets the fakes answer.
package final class TestReceiver {
    package let order: RecordingOrder
    package let renderer: FakeRenderer
    package let listener: FakeListener
    package let advertiser: FakeAdvertiser
    package let store: MemoryStore
    package let clock: ManualClock
    package let log: RecordingLog
    /// Nil unless the test asked for applications.
    package let applications: FakeApplicationHost?
    /// What is outside of the network; nobody asks it unless the configuration has an accessory.
    package let sources: FakeExternalSources
    package let sensors: FakePlacementSensors
    package let shell: ReceiverShell

    /// Makes a receiver; `start` is left to the test.
    package init(
        configuration: ReceiverConfiguration = .init(name: "Test", software: "linnet test"),
        saved: SavedState? = nil, applications catalog: [ApplicationManifest]? = nil,
        network: FakeNetwork? = nil, clock: ManualClock = ManualClock()
    ) {
        let order = RecordingOrder()
        self.order = order
        renderer = FakeRenderer(order: order)
        listener = FakeListener(order: order)
        advertiser = FakeAdvertiser(order: order)
        store = MemoryStore(saved, order: order)
        self.clock = clock
        log = RecordingLog()
        (sources, sensors) = (FakeExternalSources(), FakePlacementSensors())
        applications = catalog.map { [listener] in FakeApplicationHost($0, listener: listener) }
        shell = ReceiverShell(
            configuration: configuration,
            ports: ReceiverPorts(
                renderer: renderer, listener: listener, advertiser: advertiser, store: store, clock: clock,
                identifiers: FixedIdentifiers(), applications: applications,
                groups: network?.ports(
                    at: configuration.port, clockPort: configuration.clockPort, listener: listener,
                    clock: clock),
                accessory: AccessoryPorts(sources: sources, placement: sensors)),
            log: log)
    }

    /// A receiver that runs, is registered and has a renderer that plays items of three minutes.
    package static func running(
        configuration: ReceiverConfiguration = .init(name: "Test", software: "linnet test"),
        saved: SavedState? = nil, applications: [ApplicationManifest]? = nil
    ) throws -> TestReceiver {
        let receiver = TestReceiver(
            configuration: configuration, saved: saved, applications: applications)
        receiver.renderer.script = FakeRenderer.playing(MediaTime(value: 180, timescale: 1))
        _ = try receiver.shell.start()
        receiver.settle()
        return receiver
    }

    /// Lets the fakes report what is due until nothing is.
    package func settle() {
        var isMoving = true
        while isMoving {
            isMoving = false
            if renderer.deliver() { isMoving = true }
            if advertiser.deliver() { isMoving = true }
            if listener.deliver() { isMoving = true }
            if applications?.deliver() == true { isMoving = true }
            if sources.deliver() { isMoving = true }
        }
    }
}
