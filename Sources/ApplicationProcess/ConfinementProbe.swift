// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import GLibLoop
import Sandbox
import Settings

/// Whether this host lets programs be confined: runs one behind the same walls.
final class ConfinementProbe {
    private static let patience = Duration.seconds(5)

    private var child: ChildProcess?
    private var output: ByteLink?
    private var status: ByteLink?
    private var lines = OutputLines()
    private var patience: EventSource?
    private var onEnd: ((String?) -> Void)?

    /// Tells later why programs cannot be confined; nil if they can.
    init(bubblewrap: String?, user: ChildBounds.User?, onEnd: @escaping (String?) -> Void) {
        self.onEnd = onEnd
        if let reason = start(bubblewrap, user) {
            // Not from inside this call.
            patience = EventSource.after(.zero) { [weak self] in self?.finish(reason) }
        }
    }

    /// What is needed and not there; nil if all is.
    static func missing(bubblewrap: String?) -> String? {
        if bubblewrap == nil { return "bubblewrap is not installed" }
        guard FileSystem.isExecutable(Confinement.limiter) else {
            return "\(Confinement.limiter) is not there; it belongs to util-linux"
        }
        let isKnown = CallFilter.forApplication(hasNetwork: false) != nil
        return isKnown ? nil : "the system calls of this machine are not known"
    }

    /// Returns why nothing was started.
    private func start(_ bubblewrap: String?, _ user: ChildBounds.User?) -> String? {
        if let reason = Self.missing(bubblewrap: bubblewrap) { return reason }
        guard let bubblewrap, let filter = CallFilter.forApplication(hasNetwork: false) else { return "" }
        do {
            output = try ByteLink.pipe { writing in
                var inheritance = Inheritance()
                // In the places of the socket and of the status.
                inheritance.add(try Descriptor.holding([]))
                inheritance.add(try Descriptor.holding(filter))
                var end = Int32(-1)
                status = try ByteLink.pipe { end = $0.take() }
                inheritance.add(Descriptor(adopting: end))
                let limits = ApplicationManifest.Limits()
                child = try ChildProcess(
                    Confinement().arguments(bubblewrap: bubblewrap, ["/usr/bin/true"]), environment: [:],
                    bounds: ChildBounds(for: limits, hasStorage: false, user: user), output: writing,
                    inheriting: inheritance)
            }
        } catch {
            return "bubblewrap cannot be started: \(error)"
        }
        output?.onReceive = { [weak self] in _ = self?.lines.push($0, now: MonotonicClock.nanoseconds) }
        child?.whenEnded { [weak self] exit in
            // What it wrote may still be unread.
            EventSource.once(after: .milliseconds(10)) { self?.ended(exit) }
        }
        patience = EventSource.after(Self.patience) { [weak self] in self?.child?.forceExit() }
        return nil
    }

    private func ended(_ exit: ChildProcess.Exit) {
        _ = lines.finish()
        finish(exit == .status(0) ? nil : lines.last.last ?? "bubblewrap ended with \(exit)")
    }

    private func finish(_ reason: String?) {
        (child, output, status, patience) = (nil, nil, nil, nil)
        let body = onEnd
        onEnd = nil
        body?(reason)
    }
}
