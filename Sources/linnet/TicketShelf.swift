// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteKit
import Settings

/// The tickets of the groups that this user made, so that a later command can take more receivers in. Files that only the user
/// can read, in the state folder of XDG.
struct TicketShelf {
    private let folder: String

    /// The folder of the user who runs the program.
    init() {
        let base = Machine.environment("XDG_STATE_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
        self.init(folder: "\(base ?? "\(Machine.homeFolder)/.local/state")/linnet/groups")
    }

    init(folder: String) { self.folder = folder }

    func keep(_ ticket: GroupTicket) throws(CommandFailure) {
        guard let path = path(ticket.group) else { return }
        do {
            try FileSystem.makeDirectory(folder, mode: 0o700)
            try FileSystem.write(Array("\(ticket.secret)\n".utf8), to: path, mode: 0o600)
        } catch {
            throw CommandFailure(
                .failure, "cannot keep the ticket of the group: \(error)",
                advice: "The group plays; to take more receivers in, make it anew.")
        }
    }

    /// The secret of a group that was made here.
    func secret(of group: String) -> String? {
        guard let path = path(group) else { return nil }
        return FileSystem.firstLine(path)
    }

    func forget(_ group: String) {
        guard let path = path(group) else { return }
        try? FileSystem.remove(path)
    }

    /// Nil for what comes from a receiver and can be no file's name.
    private func path(_ group: String) -> String? {
        let isPlain = group.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        return isPlain && (1...128).contains(group.utf8.count) ? "\(folder)/\(group)" : nil
    }
}
