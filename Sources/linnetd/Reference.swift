// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// The settings in the forms in which people read them, made from `Setting.all`.
enum Reference {
    /// A file that would choose what `configuration` holds, for `--print-config`.
    static func file(_ configuration: Configuration) -> String {
        Setting.groups.map { group in
            let keys = Setting.all.filter { $0.group == group }
            return "[\(group)]\n"
                + keys.map { "# \($0.summary)\n\($0.key)=\(escaped(configuration.text($0)))\n" }.joined()
        }.joined(separator: "\n")
    }

    /// The page `receiver.conf(5)`.
    static var manual: String {
        var text = """
            .\\" Made by linnetd --print-manual from the table of settings; do not edit.
            .TH RECEIVER.CONF 5 2026-11-30 Linnet "File formats"
            .SH NAME
            receiver.conf \\- settings of the media receiver linnetd
            .SH SYNOPSIS
            .I /etc/linnet/receiver.conf
            .br
            .I /etc/linnet/receiver.conf.d/*.conf
            .SH DESCRIPTION
            These files hold the settings of
            .BR linnetd (8).
            They are key files: groups in brackets, then lines of the form
            .IR key = value ;
            lines that begin with # are comments.
            .I receiver.conf
            is read first, then the files of the folder in the order of their names. The last value of a key counts, and an
            option of the command line counts more than any file.
            .PP
            A value that is not allowed keeps the daemon from starting; an unknown group or key is reported and passed over.
            .B linnetd \\-\\-check\\-config
            names file and line of each mistake,
            .B linnetd \\-\\-print\\-config
            prints what counts. Changes take effect at the next start.

            """
        for group in Setting.groups {
            text += ".SH [\(group)]\n"
            for setting in Setting.all where setting.group == group {
                text += ".TP\n.B \(roff(setting.key))\n"
                text += roff(sentence(setting.summary)) + "\n"
                if !setting.detail.isEmpty { text += roff(setting.detail) + "\n" }
                text += roff("Allowed: \(setting.range). \(standardSentence(setting))") + "\n"
                text += "Option:\n.BR \\-\\-\(roff(setting.option)) .\n"
            }
        }
        return text + """
            .SH EXAMPLE
            .nf
            [receiver]
            name=Kitchen

            [output]
            device=Headphones
            volume-cap=0.8
            .fi
            .SH SEE ALSO
            .BR linnetd (8),
            .BR linnet (1)

            """
    }

    /// The tables of `Docs/configuration.md`.
    static var tables: String {
        Setting.groups.map { group in
            let rows = Setting.all.filter { $0.group == group }.map { setting in
                let text = [sentence(setting.summary), setting.detail].filter { !$0.isEmpty }.joined(
                    separator: " ")
                let standard = setting.fallback.isEmpty ? "empty" : "`\(setting.fallback)`"
                return
                    "| `\(setting.key)` | `--\(setting.option)` | \(setting.range) | \(standard) | \(text) |\n"
            }
            return "## [\(group)]\n\n| Key | Option | Allowed | Default | What |\n|---|---|---|---|---|\n"
                + rows.joined()
        }.joined(separator: "\n")
    }

    private static func standardSentence(_ setting: Setting) -> String {
        setting.fallback.isEmpty ? "Empty by default." : "Default: \(setting.fallback)."
    }

    private static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + "."
    }

    private static func roff(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\\\"
            case "-": result += "\\-"
            default: result.append(character)
            }
        }
        return result
    }

    /// Blanks at the start and backslashes have a meaning in key files.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\\\"
            case " " where result.isEmpty: result += "\\s"
            default: result.append(character)
            }
        }
        return result
    }
}
