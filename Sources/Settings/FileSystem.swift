// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

package import GLibLoop
import Glibc

/// Small files that are read whole, and written so that a power cut or a full disk leaves the old or the new one.
package enum FileSystem {
    /// A file larger than the caller takes.
    package static func tooLarge(_ path: String) -> Failure {
        Failure(domain: "errno", code: EFBIG, message: "\(path): larger than expected")
    }

    /// The whole of a file of at most `maximum` bytes, also of one whose size the kernel does not tell.
    package static func read(_ path: String, maximum: Int) throws(Failure) -> [UInt8] {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Failure(errno: errno, in: path) }
        defer { _ = close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe Glibc.read(file, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure(errno: errno, in: path) }
            if count == 0 { return bytes }
            guard bytes.count + count <= maximum else { throw tooLarge(path) }
            bytes += piece[..<count]
        }
    }

    /// At most `count` bytes of the beginning of a regular file; nil if it is none or cannot be read.
    package static func beginning(of path: String, count: Int) -> [UInt8]? {
        // Without waiting for the other end of a pipe.
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { _ = close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        let read = unsafe Glibc.read(file, &bytes, count)
        return read >= 0 ? Array(bytes[..<read]) : nil
    }

    /// The path from the root, with links and dots resolved; nil if there is no such file.
    package static func absolute(_ path: String) -> String? {
        guard let found = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }

    /// The first line of a small text file; nil if it cannot be read.
    package static func firstLine(_ path: String) -> String? {
        guard let bytes = try? read(path, maximum: 65_536) else { return nil }
        return String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self)
    }

    /// Replaces the file at `path`. After a failure the old one is still there, and nothing beside it.
    package static func write(_ bytes: [UInt8], to path: String, mode: UInt32 = 0o644) throws(Failure) {
        let scratch = path + ".new"
        let file = unsafe open(scratch, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode)
        guard file >= 0 else { throw Failure(errno: errno, in: scratch) }
        do throws(Failure) {
            try fill(file, with: bytes, named: scratch)
            guard unsafe Glibc.rename(scratch, path) == 0 else { throw Failure(errno: errno, in: path) }
        } catch {
            _ = unsafe unlink(scratch)
            throw error
        }
        try synchronizeDirectory(of: path)
    }

    /// Writes over what a file has at `offset`, where it lies on the medium.
    package static func overwrite(_ bytes: [UInt8], at offset: Int, of path: String) throws(Failure) {
        let file = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw Failure(errno: errno, in: path) }
        defer { _ = close(file) }
        guard unsafe pwrite(file, bytes, bytes.count, off_t(offset)) == bytes.count, fsync(file) == 0 else {
            throw Failure(errno: errno, in: path)
        }
    }

    /// Writes all of `bytes` to the medium and closes the file.
    private static func fill(_ file: Int32, with bytes: [UInt8], named name: String) throws(Failure) {
        var number: Int32 = 0
        var offset = 0
        while offset < bytes.count, number == 0 {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(file, $0.baseAddress! + offset, $0.count - offset)
            }
            if count >= 0 { offset += count } else if errno != EINTR { number = errno }
        }
        if number == 0, fsync(file) != 0 { number = errno }
        if close(file) != 0, number == 0 { number = errno }
        guard number == 0 else { throw Failure(errno: number, in: name) }
    }

    /// The new name is on the medium only once the directory is.
    private static func synchronizeDirectory(of path: String) throws(Failure) {
        let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let directory = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw Failure(errno: errno, in: parent) }
        defer { _ = close(directory) }
        guard fsync(directory) == 0 else { throw Failure(errno: errno, in: parent) }
    }

    /// Gives a file another name, in place of one that has it.
    package static func rename(_ path: String, to other: String) throws(Failure) {
        guard unsafe Glibc.rename(path, other) == 0 else { throw Failure(errno: errno, in: path) }
    }

    /// Removes a file.
    package static func remove(_ path: String) throws(Failure) {
        guard unsafe unlink(path) == 0 else { throw Failure(errno: errno, in: path) }
    }

    /// Removes an empty directory.
    package static func removeDirectory(_ path: String) throws(Failure) {
        guard unsafe rmdir(path) == 0 else { throw Failure(errno: errno, in: path) }
    }

    /// Makes `path` a symbolic link to `target`. What had that name must be gone.
    package static func link(_ path: String, to target: String) throws(Failure) {
        guard unsafe symlink(target, path) == 0 else { throw Failure(errno: errno, in: path) }
    }

    /// Makes a directory and those above it; one that is there already is all right.
    package static func makeDirectory(_ path: String, mode: UInt32 = 0o755) throws(Failure) {
        var end = path.startIndex
        while end < path.endIndex {
            end = path[end...].dropFirst().firstIndex(of: "/") ?? path.endIndex
            let part = String(path[..<end])
            if unsafe mkdir(part, mode) != 0, errno != EEXIST { throw Failure(errno: errno, in: part) }
        }
        guard isDirectory(path) else { throw Failure(errno: ENOTDIR, in: path) }
    }

    /// What a symbolic link says; nil for everything else.
    package static func target(ofLink path: String) -> String? {
        let text = unsafe [CChar](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = max(unsafe readlink(path, buffer.baseAddress!, buffer.count), 0)
        }
        return text.isEmpty ? nil : String(decoding: text.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    package static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    package static func isExecutable(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }

    package static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The names in a directory, sorted by their bytes, without `.` and `..`.
    package static func list(_ path: String) throws(Failure) -> [String] {
        guard let directory = unsafe opendir(path) else { throw Failure(errno: errno, in: path) }
        defer { _ = unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
