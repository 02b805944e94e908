// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Avahi
import GLibLoop
package import ReceiverRuntime
package import SessionCore

/// Keeps the receiver advertised by the Avahi daemon, whenever that comes, goes or comes back. Made and used on a loop.
package final class AvahiAdvertiser: Advertiser {
    package static let serviceType = "_linnet._tcp"
    /// A daemon that is upgraded is back within seconds; a call a second costs nothing meanwhile.
    private static let pause = Duration.seconds(1)

    private let log: any Log
    private var advertisement: Advertisement?
    private var report: ((AdvertisementStatus) -> Void)?
    private var last: AdvertisementStatus?
    private var retry: EventSource?

    package init(log: any Log) { self.log = log }

    package func start(_ service: AdvertisedService, report: @escaping (AdvertisementStatus) -> Void) {
        self.report = report
        let advertisement = Advertisement(
            name: service.name, type: Self.serviceType, port: service.port, text: service.text
        ) { [weak self] in self?.take($0) }
        self.advertisement = advertisement
        // A start that fails reports `lost`, too, and is tried again from there.
        _ = advertisement.start()
    }

    package func update(_ service: AdvertisedService) {
        advertisement?.update(name: service.name, text: service.text)
    }

    package func withdraw() {
        (report, retry) = (nil, nil)
        advertisement?.withdraw()
        advertisement = nil
    }

    private func take(_ event: Advertisement.Event) {
        guard let advertisement else { return }
        switch event {
        case .published(let name):
            log.write(.notice, "receiver.advertiser", "advertised", ["name": name])
            tell(.registered)
        case .renamed(let name):
            log.write(.warning, "receiver.advertiser", "name is taken, renamed", ["name": name])
            tell(.waiting)
        case .waitingForDaemon:
            if last?.state != .waiting {
                log.write(.warning, "receiver.advertiser", "waiting for the Avahi daemon", [:])
            }
            tell(.waiting)
        case .lost(let reason):
            if retry == nil, last?.state != .waiting || !hasWarned {
                hasWarned = true
                log.write(.warning, "receiver.advertiser", "no connection to Avahi", ["reason": reason])
            }
            tell(.waiting)
            retry = EventSource.after(Self.pause) { [weak self] in
                self?.retry = nil
                _ = advertisement.start()
            }
        case .failed(let reason):
            log.write(.error, "receiver.advertiser", "cannot be advertised", ["reason": reason])
            tell(.failed)
        }
        if last?.state == .registered { hasWarned = false }
    }

    /// One warning for each time without the daemon, not one a second.
    private var hasWarned = false

    private func tell(_ state: AdvertisementStatus.State) {
        guard let advertisement, let report else { return }
        let status = AdvertisementStatus(state: state, name: advertisement.name)
        guard status != last else { return }
        last = status
        report(status)
    }
}

extension AvahiAdvertiser {
    /// Says whether the daemon answers, for a self-test; nil is yes, a text says what is wrong.
    package static func fault(after patience: Duration, _ answer: @escaping (String?) -> Void) -> AnyObject {
        let probe = Probe(answer)
        probe.begin(patience)
        return probe
    }

    private final class Probe {
        private var answer: ((String?) -> Void)?
        private var browser: ServiceBrowser?
        private var deadline: EventSource?

        init(_ answer: @escaping (String?) -> Void) { self.answer = answer }

        func begin(_ patience: Duration) {
            deadline = EventSource.after(patience) { [weak self] in
                self?.end("the Avahi daemon does not answer")
            }
            browser = ServiceBrowser(type: AvahiAdvertiser.serviceType) { [weak self] event in
                switch event {
                case .lost(let reason), .failed(let reason): self?.end(reason)
                case .waitingForDaemon: self?.end("the Avahi daemon does not run")
                case .found, .removed, .allForNow: self?.end(nil)
                }
            }
            _ = browser?.start()
        }

        private func end(_ fault: String?) {
            deadline = nil
            answer?(fault)
            answer = nil
        }
    }
}
