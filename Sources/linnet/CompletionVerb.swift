// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

import RouteKit
import Settings

extension Verb {
    static let completion = Verb(
        name: "completion", arguments: "bash|zsh|fish", summary: "Prints the completion script of a shell.",
        takesReceiver: false,
        examples: [
            ("source <(linnet completion bash)", "Completes in this shell."),
            ("linnet completion fish > ~/.config/fish/completions/linnet.fish", "Completes in fish."),
        ]
    ) { invocation in
        switch try invocation.words(1, 1)[0] {
        case "bash": print(CompletionScript.bash, terminator: "")
        case "zsh": print(CompletionScript.zsh, terminator: "")
        case "fish": print(CompletionScript.fish, terminator: "")
        case let other:
            throw CommandFailure(.usage, "there is no completion for '\(TerminalText.clean(other))'")
        }
        return .success
    }
}

/// Completion scripts, made from the table of verbs, so that they know every option.
package enum CompletionScript {
    private static var names: String { Verb.all.map(\.name).joined(separator: " ") }

    private static func options(_ verb: Verb) -> [String] {
        verb.allOptions.flatMap { option in
            ["--\(option.name)"] + (option.short.map { ["-\($0)"] } ?? [])
        }
    }

    /// The words that a verb takes, where they are known beforehand.
    private static func words(_ verb: Verb) -> [String] {
        switch verb.name {
        case "queue": Verb.queueWords
        case "group": Verb.groupWords
        case "sources": Verb.sourceWords
        case "data": Verb.dataWords
        case "app": Verb.appWords
        case "announce": ["cancel"]
        case "update": Verb.updateWords
        case "device": Verb.deviceWords
        case "mute": ["on", "off", "toggle"]
        case "tracks": ["audio", "description", "subtitles"]
        case "completion": ["bash", "zsh", "fish"]
        default: []
        }
    }

    private static func takesFiles(_ verb: Verb) -> Bool {
        ["play", "announce", "update"].contains(verb.name)
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    package static var bash: String {
        var text = """
            # Completion of linnet for bash. Made by: linnet completion bash
            _linnet() {
                local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb='' part
                for part in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
                    case $part in
                        \(Verb.all.map(\.name).joined(separator: "|"))) verb=$part; break ;;
                    esac
                done
                case $before in
                    --on|-o)
                        # Not compgen: it would run what a name says.
                        COMPREPLY=()
                        while IFS= read -r part; do
                            [[ $part == "$word"* ]] && COMPREPLY+=("$part")
                        done < <(linnet browse --timeout 1 2>/dev/null | sed 's/  .*//')
                        return ;;
                esac
                case $verb in
                    '') mapfile -t COMPREPLY < <(compgen -W "\(names) --on --help --version" -- "$word") ;;

            """
        for verb in Verb.all {
            let list = (words(verb) + options(verb)).joined(separator: " ")
            let files = takesFiles(verb) ? " -f" : ""
            text +=
                "        \(verb.name)) mapfile -t COMPREPLY < <(compgen\(files) -W \"\(list)\" -- \"$word\") ;;\n"
        }
        return text + "    esac\n}\ncomplete -o filenames -F _linnet linnet\n"
    }

    package static var zsh: String {
        var text = """
            #compdef linnet
            # Completion of linnet for zsh. Made by: linnet completion zsh
            _linnet_receivers() {
                local -a receivers
                receivers=(${(f)"$(linnet browse --timeout 1 2>/dev/null | sed 's/  .*//')"})
                compadd -a receivers
            }
            _linnet() {
                local -a verbs
                verbs=(

            """
        for verb in Verb.all { text += "        \(quoted("\(verb.name):\(verb.summary)"))\n" }
        text += """
                )
                local context state line
                _arguments -C '(-o --on)'{-o,--on}'[the receiver]:receiver:_linnet_receivers' \\
                    '(-h --help)'{-h,--help}'[show help]' '(-V --version)'{-V,--version}'[show the version]' \\
                    '1:command:->verb' '*::argument:->rest'
                case $state in
                    verb) _describe command verbs ;;
                    rest)
                        case $words[1] in

            """
        for verb in Verb.all {
            text += "                \(verb.name)) _arguments"
            for option in verb.allOptions {
                let help = "[\(option.help.filter { $0 != "[" && $0 != "]" && $0 != ":" })]"
                let value =
                    option.kind == .flag
                    ? "" : (option.name == "on" ? ":receiver:_linnet_receivers" : ":\(option.name):")
                text += " \\\n                    \(quoted("--\(option.name)\(help)\(value)"))"
            }
            let known = words(verb)
            if takesFiles(verb) {
                text += " \\\n                    '*:file or URL:_files'"
            } else if !known.isEmpty {
                text += " \\\n                    '1:word:(\(known.joined(separator: " ")))'"
            }
            text += " ;;\n"
        }
        return text + "            esac ;;\n    esac\n}\n_linnet \"$@\"\n"
    }

    package static var fish: String {
        var text = """
            # Completion of linnet for fish. Made by: linnet completion fish
            function __linnet_receivers
                linnet browse --timeout 1 2>/dev/null | sed 's/  .*//'
            end
            complete -c linnet -f
            complete -c linnet -s o -l on -x -a '(__linnet_receivers)' -d 'The receiver'
            complete -c linnet -s h -l help -d 'Show help'
            complete -c linnet -n __fish_use_subcommand -s V -l version -d 'Show the version'

            """
        for verb in Verb.all {
            text +=
                "complete -c linnet -n __fish_use_subcommand -a \(verb.name) -d \(quoted(verb.summary))\n"
            let condition = "-n '__fish_seen_subcommand_from \(verb.name)'"
            for option in verb.options {
                let short = option.short.map { " -s \($0)" } ?? ""
                let value = option.kind == .flag ? "" : " -x"
                text +=
                    "complete -c linnet \(condition)\(short) -l \(option.name)\(value) -d \(quoted(option.help))\n"
            }
            if takesFiles(verb) { text += "complete -c linnet \(condition) -F\n" }
            let known = words(verb)
            if !known.isEmpty {
                text += "complete -c linnet \(condition) -a '\(known.joined(separator: " "))'\n"
            }
        }
        return text
    }
}
