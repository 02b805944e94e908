// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The longest start of at most so many bytes that cuts no character; empty if the first is longer already.
    func prefix(bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var (result, count) = ("", 0)
        for character in self {
            count += character.utf8.count
            guard count <= limit else { break }
            result.append(character)
        }
        return result
    }

    /// Whether it may name an item.
    var isIdentifier: Bool { !isEmpty && utf8.count <= GroupLimits.identifierBytes }
}
