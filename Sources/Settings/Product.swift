// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// What the programs say of themselves.
package enum Product {
    package static let version = "0.1.0"
    /// Product and version in one word, as in `User-Agent`.
    package static let software = "Linnet/\(version)"
}
