// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import ApplicationModel
package import MediaModel
package import SessionCore

/// Runs companion applications. Every command returns at once; an instance's end is reported exactly once.
package protocol ApplicationHost: AnyObject {
    /// Begins to report: first the catalog. Clients of applications are handed to `service`. Called once.
    func start(service: any ApplicationService, report: @escaping (ApplicationHostEvent) -> Void)
    /// Starts a process for an instance, which an earlier one may have had. The client of a program is opened when its
    /// socket is there; a page is shown at `service.address(of:)`. The end is reported, also of what could not be started.
    func launch(_ instance: InstanceID, _ application: ApplicationID)
    /// Asks with SIGTERM.
    func terminate(_ instance: InstanceID)
    /// Ends everything that the instance started, by force. `limit` becomes the cause that is reported.
    func kill(_ instance: InstanceID, limit: String?)
    /// A file of an application's folder, by a path without `..` and escapes: its icon, the files of its page. Nil: there is none, or it is too large.
    func file(_ path: String, of application: ApplicationID) -> Page?
    /// The script that pages include to speak with the receiver; nil if it is not installed.
    var script: Page? { get }
    /// Where a running instance may keep files, as it sees the path itself; nil without permission.
    func storage(of instance: InstanceID) -> String?
    /// Ends all by force. Nothing is reported afterwards.
    func shutDown()
}

package enum ApplicationHostEvent: Equatable, Sendable {
    /// What is installed, in the order of the ids; first and at every change.
    case catalogChanged([ApplicationManifest])
    /// The walls around an instance, as they really stand.
    case confined(InstanceID, [ConfinementLayer])
    case exited(InstanceID, ApplicationExit)
}

/// What the host asks of the receiver, on the receiver's executor, besides what a listener asks: `clientReceived`,
/// `clientDrained` and `clientClosed` follow for the same client.
package protocol ApplicationService: ListenerService {
    /// An instance's socket is open.
    func clientOpened(_ client: any Client, of instance: InstanceID)
    /// Where the page of an instance is found by a browser on this device, with the secret by which it is known; nil for a
    /// program. Good from the call of `launch` on, for one connection.
    func address(of instance: InstanceID) -> String?
}
