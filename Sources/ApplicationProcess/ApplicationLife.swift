// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import MediaModel

/// One life of an application's processes, whoever starts them. Its end is told once, unless it was dropped.
protocol ApplicationLife: AnyObject {
    /// Has the log of its end say something of the host's.
    func note(_ text: String)
    /// Asks the program to end.
    func terminate()
    /// Ends everything by force. The reason is a limit, or nil.
    func kill(_ limit: String?)
    /// Ends it without telling anybody.
    func drop()
}

/// What is known of a life once it has begun.
struct ApplicationStart: Equatable, Sendable {
    /// The walls as they stand.
    var layers: [ConfinementLayer]
    /// Where it may keep files, as it sees the path itself; nil without permission.
    var storage: String?
}

/// What hears of a life. Nothing is called from inside the call that begins it.
struct LifeObserver {
    var onStart: (ApplicationStart) -> Void
    /// A line for the log.
    var onLine: (String) -> Void
    var onEnd: (ApplicationExit) -> Void
}
