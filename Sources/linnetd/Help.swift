// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import Settings

/// What the command line takes, and the page that explains it.
enum Help {
    static let actions: [CommandLine.Option] = [
        .init("config-dir", nil, .string, "read receiver.conf there, not in /etc/linnet", argument: "FOLDER"),
        .init("check-config", nil, .flag, "report mistakes in settings and applications, with their place"),
        .init("print-config", nil, .flag, "print the settings that count"),
        .init(
            "self-test", nil, .flag, "check GStreamer, sound card, Avahi, port, state folder, applications"),
        .init(
            "launch-application", nil, .flag,
            "start one application for a receiver that is connected as standard input"),
        .init("version", nil, .flag, "print the version"),
        .init("help", "h", .flag, "print this page"),
        .init("print-manual", nil, .flag, "print receiver.conf(5)"),
        .init("print-tables", nil, .flag, "print the settings as tables, for the documentation"),
    ]

    /// One option for each setting.
    static let settings: [CommandLine.Option] = Setting.all.map {
        .init($0.option, nil, .string, $0.summary, argument: $0.argument)
    }

    static var page: String {
        var text = HelpText(
            usage: "linnetd [OPTION…]",
            summary: """
                Receives media: senders on the network find this host, start a session by URL and control it, and the \
                sound comes out of its card. Settings come from /etc/linnet/receiver.conf and receiver.conf.d/*.conf; an \
                option counts more than a file.
                """)
        text.options = actions
        text.words = Setting.groups.map { group in
            (
                "Settings of [\(group)]",
                Setting.all.filter { $0.group == group }.map { setting in
                    let standard = setting.fallback.isEmpty ? "" : " [\(setting.fallback)]"
                    return ("--\(setting.option)=\(setting.argument)", setting.summary + standard)
                }
            )
        }
        text.examples = [
            ("linnetd --name=Kitchen --device=Headphones", "receive as Kitchen on the card Headphones"),
            ("linnetd --config-dir=. --check-config", "look for mistakes in ./receiver.conf"),
        ]
        text.exitCodes = [
            (0, "ended by a signal, or all is well"),
            (1, "the port cannot be opened, or a check found something"),
            (64, "the command line is wrong"),
            (78, "the settings are wrong"),
        ]
        return text.rendered(width: Machine.terminalWidth(.output) ?? 80)
    }
}
