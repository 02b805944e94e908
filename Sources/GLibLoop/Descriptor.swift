// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file descriptor with one owner, who closes it once.
package struct Descriptor: ~Copyable {
    /// The number, for calls that only borrow it.
    package let number: Int32

    /// Takes over `number`, such as one inherited from the parent process.
    package init(adopting number: Int32) { self.number = number }

    deinit { _ = close(number) }

    /// Gives the number away; whoever takes it closes it.
    package consuming func take() -> Int32 {
        let number = number
        discard self
        return number
    }
}

/// A file descriptor that whoever holds it last closes, wherever that is: for one that travels as a value.
package final class SharedDescriptor: Sendable {
    /// The number, for calls that only borrow it.
    package let number: Int32

    package init(_ descriptor: consuming Descriptor) { number = descriptor.take() }

    deinit { _ = close(number) }
}
