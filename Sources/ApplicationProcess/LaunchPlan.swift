// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import ApplicationModel
import GLibLoop
import MediaModel

/// What is started for an instance, and behind which walls.
struct LaunchPlan {
    var arguments: [String]
    var environment: [String: String] = [:]
    var bounds = ChildBounds()
    /// What bubblewrap makes of system calls; nil: it does not run.
    var filter: [UInt8]?
    var isSandboxed: Bool { filter != nil }
    /// True: a program, which speaks on a socket. False: a browser.
    var hasSocket = true
    /// What it is called in the log.
    var name: String
    var limits = ApplicationManifest.Limits()
    /// The folder of this host whose size is bounded.
    var storage: String?
    /// The control group of its own.
    var group: String?
    var layers: [ConfinementLayer] = []
}

extension ChildBounds {
    /// For a program. What it reserves is not what it uses, of which all of its processes together have the limit: so the
    /// kernel refuses a process only what is far beyond it.
    init(for limits: ApplicationManifest.Limits, hasStorage: Bool, user: User?) {
        self.init()
        memory = 2 * limits.memory + (64 << 20)
        fileSize = hasStorage ? limits.storage : limits.memory
        files = 256
        // Playing is heard to stutter, an application is not.
        nice = 10
        // When memory is short, applications go first, then the renderer (500), and never the daemon.
        outOfMemoryScore = 900
        self.user = user
        diesWithParent = true
    }
}
