// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import GLibLoop
import Glibc

extension FileSystem {
    /// What stands under a name, without following a link.
    package struct Entry: Equatable, Sendable {
        package enum Kind: Equatable, Sendable { case file, folder, link, other }
        package let kind: Kind
        package let size: Int
        package let owner: UInt32
        /// The bits of permission.
        package let mode: UInt32

        package var isWritableByAll: Bool { mode & 0o002 != 0 }
        package var isExecutable: Bool { mode & 0o111 != 0 }
    }

    /// Nil if there is none, or it cannot be looked at.
    package static func entry(_ path: String) -> Entry? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        let kind: Entry.Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .link
            default: .other
            }
        return Entry(
            kind: kind, size: Int(status.st_size), owner: status.st_uid, mode: UInt32(status.st_mode) & 0o7777
        )
    }

    /// Gives a file or folder to a user.
    package static func give(_ path: String, to user: ChildBounds.User) throws(Failure) {
        guard unsafe lchown(path, user.user, user.group) == 0 else { throw Failure(errno: errno, in: path) }
    }

    /// Sets the bits of permission.
    package static func setMode(_ path: String, _ mode: UInt32) throws(Failure) {
        guard unsafe chmod(path, mode) == 0 else { throw Failure(errno: errno, in: path) }
    }

    /// Writes to a file that is there, such as one of the kernel's.
    package static func put(_ text: String, into path: String) throws(Failure) {
        let file = unsafe open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw Failure(errno: errno, in: path) }
        defer { _ = close(file) }
        let bytes = Array(text.utf8)
        guard unsafe Glibc.write(file, bytes, bytes.count) == bytes.count else {
            throw Failure(errno: errno, in: path)
        }
    }

    /// How much a folder holds.
    package struct Contents: Equatable, Sendable {
        package var bytes = 0
        package var entries = 0
    }

    /// What a folder holds on its device, links as themselves. Looks at no more than `limit` names.
    package static func contents(of folder: String, limit: Int) -> Contents {
        var sum = Contents()
        var folders = [folder]
        while let path = folders.popLast(), sum.entries <= limit {
            guard let directory = unsafe opendir(path) else { continue }
            defer { _ = unsafe closedir(directory) }
            while sum.entries <= limit, let entry = unsafe readdir(directory) {
                let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                    unsafe String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
                }
                if name == "." || name == ".." { continue }
                var status = stat()
                guard
                    unsafe fstatat(dirfd(directory), &entry.pointee.d_name.0, &status, AT_SYMLINK_NOFOLLOW)
                        == 0
                else { continue }
                sum.entries += 1
                sum.bytes += Int(status.st_blocks) * 512
                if status.st_mode & S_IFMT == S_IFDIR { folders.append("\(path)/\(name)") }
            }
        }
        return sum
    }
}

extension Machine {
    /// A user of this host by name, with the group that belongs to it; nil if there is none.
    package static func user(named name: String) -> ChildBounds.User? {
        guard let entry = unsafe getpwnam(name) else { return nil }
        return unsafe ChildBounds.User(user: entry.pointee.pw_uid, group: entry.pointee.pw_gid)
    }
}
