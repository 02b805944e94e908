// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import CGLib
import CGStreamer

/// A language by its tag and by its name.
package struct LanguageName: Equatable, Sendable {
    /// A BCP 47 tag: two letters where there are such.
    package let tag: String
    package let name: String?

    /// Nil for texts that name no language, such as `und`.
    package init?(_ code: String) {
        guard code != "und", code != "mul", code != "zxx", (2...35).contains(code.utf8.count),
            code.utf8.allSatisfy({
                (65...90).contains($0) || (97...122).contains($0) || (48...57).contains($0) || $0 == 45
            })
        else { return nil }
        let short = unsafe gst_tag_get_language_code_iso_639_1(code)
        tag = unsafe short.map { unsafe String(cString: $0) } ?? code
        name = unsafe gst_tag_get_language_name(code).map { unsafe String(cString: $0) }
    }
}
