// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// The help page of a program or of one of its verbs.
package struct HelpText: Sendable {
    /// How it is called, such as `linnet seek [OPTION…] POSITION`.
    package var usage: String
    package var summary: String
    /// Verbs or other words with their explanation.
    package var words: [(title: String, rows: [(name: String, help: String)])] = []
    package var options: [CommandLine.Option] = []
    package var examples: [(command: String, help: String)] = []
    package var exitCodes: [(code: Int, help: String)] = []

    package init(usage: String, summary: String) { (self.usage, self.summary) = (usage, summary) }

    /// The page, wrapped at `width` columns.
    package func rendered(width: Int = 80) -> String {
        let width = max(width, 40)
        var page = "Usage: \(usage)\n\n" + wrap(summary, indent: 0, width: width)
        for (title, rows) in words where !rows.isEmpty { page += section(title, rows, width) }
        if !options.isEmpty {
            page += section("Options", options.map { (Self.spelling($0), $0.help) }, width)
        }
        if !examples.isEmpty {
            page += "\nExamples:\n"
            for example in examples {
                page += "  \(example.command)\n" + wrap(example.help, indent: 6, width: width)
            }
        }
        if !exitCodes.isEmpty {
            page += section("Exit status", exitCodes.map { (String($0.code), $0.help) }, width)
        }
        return page
    }

    private static func spelling(_ option: CommandLine.Option) -> String {
        let short = option.short.map { "-\($0), " } ?? "    "
        let value = option.kind == .flag ? "" : "=\(option.argument ?? "VALUE")"
        return "\(short)--\(option.name)\(value)"
    }

    private func section(_ title: String, _ rows: [(name: String, help: String)], _ width: Int) -> String {
        let column = min(rows.map { $0.name.count }.max() ?? 0, 28) + 4
        var text = "\n\(title):\n"
        for row in rows {
            let help = wrap(row.help, indent: column, width: width)
            if row.name.count + 4 > column {
                text += "  \(row.name)\n\(help)"
            } else {
                let padding = String(repeating: " ", count: column - 2 - row.name.count)
                text += "  \(row.name)\(padding)\(help.dropFirst(column))"
            }
        }
        return text
    }

    /// Lines of at most `width` columns, each behind `indent` blanks.
    private func wrap(_ text: String, indent: Int, width: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = margin
        for word in text.split(separator: " ") {
            if line.count > indent, line.count + 1 + word.count > width {
                lines.append(line)
                line = margin
            }
            line += line.count > indent ? " \(word)" : word
        }
        lines.append(line)
        return lines.joined(separator: "\n") + "\n"
    }
}
