// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import ReceiverRuntime
package import SessionCore

/// A DNS-SD daemon that registers at once, unless the test says otherwise.
package final class FakeAdvertiser: Advertiser {
    package private(set) var advertised: [AdvertisedService] = []
    package private(set) var isWithdrawn = false
    /// Names that somebody else on the network has.
    package var taken: Set<String> = []
    /// False: nothing is reported, as while the daemon is away.
    package var isAvailable = true
    private var reporter: ((AdvertisementStatus) -> Void)?
    private var isReportDue = false
    private let order: RecordingOrder?

    package init(order: RecordingOrder? = nil) { self.order = order }

    package func start(_ advertisement: AdvertisedService, report: @escaping (AdvertisementStatus) -> Void) {
        reporter = report
        update(advertisement)
    }

    package func update(_ advertisement: AdvertisedService) {
        advertised.append(advertisement)
        isReportDue = true
    }

    package func withdraw() {
        isWithdrawn = true
        reporter = nil
        order?.note("advertiser.withdraw")
    }

    /// Reports the outcome of the newest change. True if one was due.
    package func deliver() -> Bool {
        guard isAvailable, isReportDue, var name = advertised.last?.name else { return false }
        isReportDue = false
        while taken.contains(name) { name += " #2" }
        report(AdvertisementStatus(state: .registered, name: name))
        return true
    }

    package func report(_ status: AdvertisementStatus) { reporter?(status) }
}
