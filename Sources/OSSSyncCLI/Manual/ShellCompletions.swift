/// The scripts that make shells complete command lines, made from the tables.
enum ShellCompletions: String, CaseIterable, Sendable {
    case bash
    case zsh
    case fish

    /// The whole script.
    var script: String {
        let lines =
            switch self {
            case .bash: Self.bashLines
            case .zsh: Self.zshLines
            case .fish: Self.fishLines
            }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let commands = CommandTable.rows.map(\.name.rawValue)
    private static let topics = HelpTopic.allCases.map(\.rawValue)
    private static let pathCommands = CompletionsCommand.pathCommands.map(\.rawValue)
    private static let shells = allCases.map(\.rawValue)

    /// Gives up soon, since somebody waits at a prompt.
    ///
    /// A key begins in column 43 of its lines.
    private static let listing = "osssync ls --top --timeout 5 --retries 0"
    /// More keys are not offered.
    private static let mostKeys = 200
    /// Prints the paths that complete the last of the words that follow.
    private static let paths = "osssync completions paths --"
    /// The options of the connection, with a value and without, as a pattern of the shells.
    private static func connection(_ separator: String, needsValue: Bool) -> String {
        Option.all.filter { option in
            option.group == .connection && option.needsValue == needsValue
                && ![.timeout, .retries, .retryWait].contains(option)
        }.map(\.name).joined(separator: separator)
    }

    /// Prints the addresses that begin with `$1`, one level, and `$1` itself if there are too many.
    ///
    /// The other arguments are the words of the line, of which the options of the connection count.
    /// Keys with characters that listings escape are left out.
    private static let keyLines = [
        "_osssync_keys() {",
        #"    local address=$1 bucket=${1#*://} word="" key count=0"#,
        "    local -a options",
        "    options=()",
        "    bucket=${address%%://*}://${bucket%%/*}/",
        "    shift",
        "    while (( $# > 1 )); do",
        "        case $1 in",
        "            \(connection("|", needsValue: true))) options+=(\"$1\" \"$2\"); shift ;;",
        "            \(connection("|", needsValue: false))) options+=(\"$1\") ;;",
        "        esac",
        "        shift",
        "    done",
        #"    \#(listing) "${options[@]}" -- "$address" 2>/dev/null | cut -c 43- |"#,
        "        while IFS= read -r key; do",
        #"            case $key in *\\*) continue ;; esac"#,
        "            (( ++count > \(mostKeys) )) && break",
        "            printf '%s\\n' \"$bucket$key\"",
        "        done",
        #"    (( count <= \#(mostKeys) )) || printf '%s\n' "$address""#,
        "}",
    ]

    // MARK: - bash

    private static var bashLines: [String] {
        var lines = ["# bash completion for osssync; written by osssync completions bash"]
        lines += keyLines + bashAddress + bashPaths
        lines += [
            "_osssync() {",
            "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}",
            "    local command= word",
            "    COMPREPLY=()",
            "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do",
            "        case $word in",
            "            \(commands.joined(separator: "|"))) command=$word; break ;;",
            "        esac",
            "    done",
            "    _osssync_address && return",
            "    case $prev in",
        ]
        for row in Option.all where row.needsValue {
            let names = ([row.name] + (row.letter.map { ["-\($0)"] } ?? [])).joined(separator: "|")
            let action =
                if !row.choices.isEmpty {
                    bashWords(row.choices) + "; return"
                } else {
                    row.takesPath ? "compopt -o default; return" : "return"
                }
            lines.append("        \(names)) \(action) ;;")
        }
        lines += [
            "    esac",
            "    case $command:$cur in",
            "        :-*) \(bashWords(["--help", "--version"])) ;;",
            "        :*) \(bashWords(commands)) ;;",
            "        help:*) \(bashWords(commands + topics)) ;;",
            "        completions:*) \(bashWords(shells)) ;;",
        ]
        for row in CommandTable.rows where !row.options.isEmpty {
            let words = bashWords(row.options.map(\.name))
            lines.append("        \(row.name.rawValue):-*) \(words) ;;")
        }
        return lines + [
            "        \(pathCommands.map { $0 + ":*" }.joined(separator: "|"))) "
                + "_osssync_paths || compopt -o default ;;",
            "        *) compopt -o default ;;", "    esac", "}", "complete -F _osssync osssync",
        ]
    }

    private static let bashAddress = [
        #"# An address is several words, because ":" and "=" end one; the last one is replaced."#,
        "_osssync_address() {",
        "    local first=$COMP_CWORD word= start= key i",
        "    local -a line",
        "    while [[ ${COMP_WORDS[first]} != @(oss|s3)?(://*) ]]; do",
        "        (( --first > 0 )) || return 1",
        "    done",
        "    for (( i = first; i <= COMP_CWORD; i++ )); do",
        "        start=$word",
        "        word+=${COMP_WORDS[i]}",
        "    done",
        #"    [[ $word == @(oss|s3)://*/* ]] || return"#,
        #"    [[ ${COMP_LINE:0:COMP_POINT} == *"$word" ]] || return"#,
        "    [[ ${COMP_WORDS[COMP_CWORD]} == [:=] ]] && start=$word",
        #"    word=${word//\\} start=${start//\\}"#,
        "    compopt -o nospace 2>/dev/null",
        "    read -ra line <<<\"$COMP_LINE\"",
        "    while IFS= read -r key; do",
        #"        [[ $key == "$start"* ]] || continue"#,
        #"        printf -v key %q "${key#"$start"}""#,
        "        COMPREPLY+=(\"$key\")",
        #"    done < <(_osssync_keys "$word" "${line[@]}")"#,
        "}",
    ]

    private static let bashPaths = [
        "# The last word is one of a path in a mirror; what is printed is whole.",
        "_osssync_paths() {",
        "    local path words=()",
        #"    for path in "${COMP_WORDS[@]:1:COMP_CWORD}"; do words+=("${path//\\}"); done"#,
        "    compopt -o nospace 2>/dev/null",
        "    while IFS= read -r path; do",
        #"        printf -v path %q "$path""#,
        #"        COMPREPLY+=("$path")"#,
        #"    done < <(\#(paths) "${words[@]}" 2>/dev/null)"#,
        "    (( ${#COMPREPLY[@]} ))",
        "}",
    ]

    private static func bashWords(_ words: [String]) -> String {
        "mapfile -t COMPREPLY < <(compgen -W '\(words.joined(separator: " "))' -- \"$cur\")"
    }

    // MARK: - zsh

    private static var zshLines: [String] {
        var lines = [
            "#compdef osssync", "# written by osssync completions zsh",
        ]
        lines += keyLines
        lines += [
            "_osssync_place() {",
            "    if [[ $PREFIX == (oss|s3)://*/* ]]; then",
            "        local -a keys",
            #"        keys=("${(@f)$(_osssync_keys "${(Q)PREFIX}" "${(@Q)words}")}")"#,
            "        compadd -S '' -- $keys",
            "        return",
            "    fi",
            "    if [[ $words[2] == (\(pathCommands.joined(separator: "|"))) ]]; then",
            "        local -a paths",
            #"        paths=(${(f)"$(\#(paths) "${(@Q)words[2,CURRENT]}" 2>/dev/null)"})"#,
            "        (( $#paths )) && compadd -S '' -- $paths && return",
            "    fi",
            "    _files",
            "}", "_osssync() {",
            "    local -a commands", "    commands=(",
        ]
        lines += CommandTable.rows.map { row in
            "        '\(row.name.rawValue):\(zshQuoted(row.summary))'"
        }
        lines += [
            "    )", "    if (( CURRENT == 2 )); then", "        _describe command commands",
            "        return", "    fi", "    case $words[2] in",
        ]
        for row in CommandTable.rows {
            var parts = row.options.flatMap { zshOption($0, row) }
            switch row.name {
            case .help: parts.append("'2:topic:(\((commands + topics).joined(separator: " ")))'")
            case .completions: parts.append("'2:shell:(\(shells.joined(separator: " ")))'")
            default: parts.append("'*:place:_osssync_place'")
            }
            lines.append("        \(row.name.rawValue))")
            lines.append("            _arguments -s \\")
            lines += parts.dropLast().map { "                \($0) \\" }
            lines += ["                \(parts[parts.count - 1])", "            ;;"]
        }
        return lines + ["    esac", "}", "_osssync \"$@\""]
    }

    private static func zshOption(
        _ option: Option,
        _ row: CommandSpecification
    ) -> [String] {
        let help = zshQuoted(row.shortHelp(of: option))
        var value = ""
        if !option.choices.isEmpty {
            value = ":value:(\(option.choices.joined(separator: " ")))"
        } else if option.needsValue {
            value = option.takesPath ? ":file:_files" : ":value: "
        }
        let names = [option.name] + (option.letter.map { ["-\($0)"] } ?? [])
        return names.map { "'*\($0)[\(help)]\(value)'" }
    }

    /// For single quotes, and without what `_arguments` and `_describe` part fields by.
    private static func zshQuoted(_ text: String) -> String {
        replacing(["'": "'\\''", "[": "\\[", "]": "\\]", ":": "\\:"], in: text)
    }

    // MARK: - fish

    private static var fishLines: [String] {
        let known = commands.joined(separator: " ")
        var lines = [
            "# fish completion for osssync; written by osssync completions fish",
            "function __osssync_keys",
            "    set -l word (commandline -ct | string unescape)",
            "    set -l bucket (string match -r '^[^/]*//[^/]*/' -- $word)",
            "    set -l options",
            "    set -l words (commandline -opc)",
            "    while set -q words[2]",
            "        switch $words[1]",
            "            case \(connection(" ", needsValue: true))",
            "                set -a options $words[1..2]",
            "            case \(connection(" ", needsValue: false))",
            "                set -a options $words[1]",
            "        end",
            "        set -e words[1]",
            "    end",
            #"    \#(listing) $options -- "$word" 2>/dev/null | head -n \#(mostKeys) | "#
                + #"cut -c 43- | string match -v '*\\\\*' | string replace -r '^' $bucket"#,
            "end",
            "complete -c osssync -f -a '(__osssync_keys)' "
                + #"-n 'string match -qr "^(oss|s3)://[^/]+/" -- (commandline -ct)'"#,
            "function __osssync_paths",
            "    set -l words (commandline -opc)",
            "    set -l word (commandline -ct | string unescape)",
            #"    \#(paths) $words[2..] "$word" 2>/dev/null"#,
            "end",
            "complete -c osssync -n '__fish_seen_subcommand_from "
                + "\(pathCommands.joined(separator: " "))' "
                + "-a '(__osssync_paths)'",
            "complete -c osssync -n 'not __fish_seen_subcommand_from \(known)' -f",
        ]
        lines += CommandTable.rows.map { row in
            "complete -c osssync -n 'not __fish_seen_subcommand_from \(known)' "
                + "-a \(row.name.rawValue) -d \(fishQuoted(row.summary))"
        }
        let words = [(CommandName.help, commands + topics), (.completions, shells)]
        for (command, words) in words {
            lines.append(
                "complete -c osssync -n '__fish_seen_subcommand_from \(command.rawValue)' "
                    + "-f -a '\(words.joined(separator: " "))'"
            )
        }
        for row in CommandTable.rows {
            lines += row.options.map { fishOption($0, row) }
        }
        return lines
    }

    private static func fishOption(
        _ option: Option,
        _ row: CommandSpecification
    ) -> String {
        var line = "complete -c osssync -n '__fish_seen_subcommand_from \(row.name.rawValue)'"
        if let letter = option.letter { line += " -s \(letter)" }
        line += " -l \(option.word)"
        if !option.choices.isEmpty {
            line += " -x -a '\(option.choices.joined(separator: " "))'"
        } else if option.needsValue {
            line += option.takesPath ? " -r -F" : " -x"
        }
        return line + " -d " + fishQuoted(row.shortHelp(of: option))
    }

    private static func fishQuoted(_ text: String) -> String {
        "'" + replacing(["\\": "\\\\", "'": "\\'"], in: text) + "'"
    }
}

private func replacing(_ pairs: [Character: String], in text: String) -> String {
    text.reduce(into: "") { $0 += pairs[$1] ?? String($1) }
}
