// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// How a group waits, and how it pauses. Values beyond the limits are moved to them.
package struct GroupPolicy: Equatable, Sendable {
    /// The reasons for which a start waits for those that are suspended; a playing group stops and waits too. All others are
    /// left behind until they are back.
    package var waitingReasons: Set<SuspensionReason>
    /// For a reason: in groups of more participants it is not waited out.
    package var participantLimits: [SuspensionReason: Int]
    /// After a pause all go to the place at which the one who paused stood. Else small differences stay until the next start.
    package var pauseSnapsToMediaTimeOfOriginator: Bool
    /// How long before its moment a start is told, in nanoseconds. 20 ms to 5 s.
    package var lead: Int64
    /// How long a start waits for those that are not ready, and any command for its answer, in nanoseconds. 0 to 60 s.
    package var readinessLimit: Int64
    /// How long a suspension is waited out, in nanoseconds. 0 to 10 minutes.
    package var suspensionLimit: Int64

    package init(
        waitingReasons: Set<SuspensionReason> = [.playingInterstitial],
        participantLimits: [SuspensionReason: Int] = [:], pauseSnapsToMediaTimeOfOriginator: Bool = false,
        lead: Int64 = 300_000_000, readinessLimit: Int64 = 10_000_000_000,
        suspensionLimit: Int64 = 60_000_000_000
    ) {
        self.waitingReasons = Set(waitingReasons.sorted().prefix(GroupLimits.policyReasons))
        let limits = participantLimits.sorted { $0.key < $1.key }.prefix(GroupLimits.policyReasons)
        self.participantLimits = Dictionary(uniqueKeysWithValues: limits.map { ($0, max(0, $1)) })
        self.pauseSnapsToMediaTimeOfOriginator = pauseSnapsToMediaTimeOfOriginator
        self.lead = min(max(lead, 20_000_000), 5_000_000_000)
        self.readinessLimit = min(max(readinessLimit, 0), 60_000_000_000)
        self.suspensionLimit = min(max(suspensionLimit, 0), 600_000_000_000)
    }

    /// Whether a start waits for somebody who is suspended for this reason.
    func waits(for reason: SuspensionReason, participants: Int) -> Bool {
        waitingReasons.contains(reason) && participants <= participantLimits[reason] ?? .max
    }
}
