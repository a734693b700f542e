internal import OSSSync

/// Where the value of an option goes.
struct Setter<Target>: Sendable {
    /// Sets it; returns what is expected instead of the text, nil if that fits.
    let apply: @Sendable (inout Target, String) throws(UsageError) -> String?

    init(_ apply: @escaping @Sendable (inout Target, String) throws(UsageError) -> String?) {
        self.apply = apply
    }

    static func flag(
        _ member: any WritableKeyPath<Target, Bool> & Sendable,
        _ value: Bool = true
    ) -> Self {
        Self { target, _ in
            target[keyPath: member] = value
            return nil
        }
    }

    static func text(_ member: any WritableKeyPath<Target, String?> & Sendable) -> Self {
        Self { target, text in
            target[keyPath: member] = text
            return nil
        }
    }

    /// One of the words of the option's value, which the parser has checked.
    static func choice<Value: RawRepresentable & SendableMetatype>(
        _ member: any WritableKeyPath<Target, Value> & Sendable
    ) -> Self where Value.RawValue == String {
        value(member, Reading("one of its words") { Value(rawValue: $0) })
    }

    static func value<Value>(
        _ member: any WritableKeyPath<Target, Value> & Sendable,
        _ reading: Reading<Value>
    ) -> Self {
        Self { target, text in
            guard let value = reading.parse(text) else { return "expected " + reading.expected }
            target[keyPath: member] = value
            return nil
        }
    }

    /// The same for a member that is nil unless the option is given.
    static func optional<Value>(
        _ member: any WritableKeyPath<Target, Value?> & Sendable,
        _ reading: Reading<Value>
    ) -> Self {
        value(member, Reading(reading.expected) { reading.parse($0).map { .some($0) } })
    }
}

// MARK: - What needs more than a member

extension Setter<OutputOptions> {
    static var verbosity: Self {
        Self { options, _ in
            options.verbosity = min(2, options.verbosity + 1)
            return nil
        }
    }
}

extension Setter<RunOptions> {
    /// Each of the words includes the first one, which no word means, too.
    static var deletions: Self {
        Self { options, text in
            guard ["", "deleted", "extra", "excluded"].contains(text) else {
                return "expected deleted, extra or excluded"
            }
            options.deletesKnown = true
            options.deletesExtra = text == "extra"
            options.deletesExcluded = text == "excluded"
            return nil
        }
    }

    static var backupDirectory: Self {
        Self { options, path in
            guard !path.isEmpty, !MirrorArguments.isRemote(path) else {
                return "expected a directory; '--trash remote' keeps objects in the bucket"
            }
            options.backupDirectory = absolutePath(path)
            return nil
        }
    }

    static var header: Self { Self { $0.properties.add(header: $1) } }

    /// The time of a bucket's past.
    static var asOf: Self {
        Self { options, text in
            guard let time = Reading.moment.parse(text) else {
                return "expected " + Reading.moment.expected
            }
            guard time <= WallClock.now().seconds else { return RunOptions.future }
            options.asOf = StoreTime(secondsSince1970: time)
            return nil
        }
    }

    static var exclude: Self {
        rule { filter, pattern throws(FileFilter.InvalidPattern) in try filter.exclude(pattern) }
    }

    static var include: Self {
        rule { filter, pattern throws(FileFilter.InvalidPattern) in try filter.include(pattern) }
    }

    static var excludeIfPresent: Self {
        Self { options, name in
            guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")) else {
                return "expected the name of a file, without '/'"
            }
            options.filter.tags.names.insert(name)
            return nil
        }
    }

    static var excludeFrom: Self {
        Self { options, path throws(UsageError) in
            let content: [UInt8]
            do throws(InputFile.Failure) {
                let input = InputFile(limit: longestFile, patience: patience)
                content = try input.content(of: path)
            } catch {
                switch error {
                case .unreadable(let reason): return "it cannot be read: \(reason)"
                case .tooLarge: return "it is larger than 1 MiB"
                case .silent: return "it is a pipe, and nothing was written to it for 60 seconds"
                case .stopped: throw .interrupted
                }
            }
            let rules = rule { filter, path throws(FileFilter.InvalidPattern) in
                try filter.add(ignoreFile: content, named: String(terminalSafe: path))
                filter.files.append(PatternFile(path: path, content: content))
            }
            return try rules.apply(&options, path)
        }
    }

    /// More than anyone writes; every pattern is matched with every path.
    private static var longestFile: Int { 1 << 20 }

    /// A run that a timer starts may find a FIFO there that nothing ever writes to.
    private static var patience: Duration { .seconds(60) }

    private static func rule(
        _ add:
            @escaping @Sendable (inout FileFilter, String) throws(FileFilter.InvalidPattern) ->
            Void
    ) -> Self {
        Self { options, text in
            do throws(FileFilter.InvalidPattern) {
                try add(&options.filter, text)
                return nil
            } catch {
                return error.message
            }
        }
    }
}

// MARK: - The options given

extension ParsedArguments {
    /// Sets what the options say.
    func set<Target>(
        _ target: inout Target,
        by column: KeyPath<Option.Setters, Setter<Target>?>
    ) throws(UsageError) {
        for given in given {
            guard let setter = given.option.setters[keyPath: column],
                let expected = try setter.apply(&target, given.value)
            else { continue }
            throw .badValue(given.option, given.value, expected)
        }
    }

    /// The value of an option that only its command reads, nil if it was not given.
    func value<Value>(
        of option: Option,
        _ reading: Reading<Value>
    ) throws(UsageError) -> Value? {
        guard let text = values[option] else { return nil }
        guard let value = reading.parse(text) else {
            throw .badValue(option, text, "expected " + reading.expected)
        }
        return value
    }
}
