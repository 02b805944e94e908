// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
package import GLibLoop
import Glibc

/// Descriptors that came with a message. Those that nobody takes are closed with it.
package final class ReceivedDescriptors {
    private var numbers: [Int32?] = []

    /// Takes over `list`.
    init(adopting list: UnsafeMutablePointer<GUnixFDList>?) {
        guard let list = unsafe list else { return }
        var count: Int32 = 0
        if let stolen = unsafe g_unix_fd_list_steal_fds(list, &count) {
            numbers = unsafe Array(UnsafeBufferPointer(start: stolen, count: Int(count)))
            unsafe g_free(stolen)
        }
        unsafe g_object_unref(list)
    }

    deinit { for case .some(let number) in numbers { _ = close(number) } }

    package var count: Int { numbers.count }

    /// The descriptor that a handle of the message stands for; nil if there is none, or it was taken.
    package func take(_ place: Int?) -> Descriptor? {
        guard let place, numbers.indices.contains(place), let number = numbers[place] else { return nil }
        numbers[place] = nil
        return Descriptor(adopting: number)
    }
}
