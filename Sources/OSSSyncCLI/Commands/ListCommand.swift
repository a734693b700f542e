internal import OSSSync

/// `osssync ls`.
struct ListCommand: Sendable {
    let context: CommandContext

    func run() async throws -> ExitCode {
        guard let text = context.positional(0) else { return .usage }
        let (client, object) = try place(text)
        if context.arguments.has(.versions) {
            return try await listVersions(client, object?.key ?? client.remote.prefix)
        }
        if context.arguments.has(.top) { return try await listTop(client, object) }
        var list = ObjectList(context)
        try await client.list { list.add($0) }
        if list.isEmpty, let object {
            // An object of this whole key is the first of those whose keys begin so.
            try await client.list(beginningWith: object.key) { found in
                guard found.exactKey == object.key else { return list.add(found) }
                list.hold(found)
                return false
            }
        }
        if let found = list.held {
            // Only a request for the object itself tells its checksum.
            let info = list.isLong ? try await client.head(found.exactKey).value : nil
            _ = list.add(found, crc64: info?.crc64)
        }
        list.finish()
        return ending(isEmpty: list.isEmpty, client, object)
    }

    private func ending(
        isEmpty: Bool,
        _ client: BucketClient,
        _ object: ObjectReference?
    ) -> ExitCode {
        guard isEmpty, !client.remote.prefix.isEmpty else { return .success }
        context.complain("no key begins with '\(object?.display ?? client.remote.display)'")
        return .incomplete
    }

    /// One level of the keys that begin with the address, as it is written.
    private func listTop(
        _ client: BucketClient,
        _ object: ObjectReference?
    ) async throws -> ExitCode {
        if context.arguments.has(.summary) {
            throw UsageError.contradiction("--top", "--" + Option.summary.rawValue)
        }
        var list = ObjectList(context)
        let start = object?.key ?? client.remote.prefix
        try await client.listLevel(beginningWith: start) { list.add($0) }
        return ending(isEmpty: list.isEmpty, client, object)
    }

    private func listVersions(_ client: BucketClient, _ start: String) async throws -> ExitCode {
        for other in [Option.summary, .long, .top] where context.arguments.has(other) {
            throw UsageError.contradiction("--versions", "--" + other.rawValue)
        }
        let isHuman = context.arguments.has(.humanReadable)
        var isEmpty = true
        try await client.listVersions(beginningWith: start) { version in
            isEmpty = false
            guard !context.output.isJSON else {
                var line = EventJSON.line("version", time: WallClock.text())
                line.add("key", version.key)
                line.add("version_id", version.versionID)
                line.add("latest", version.isLatest)
                line.add("deleted", version.size == nil)
                if let size = version.size { line.add("size", size) }
                line.add("etag", ifPresent: version.etag)
                line.add("last_modified", ifPresent: version.lastModified)
                return context.say(line)
            }
            let text = version.size.map { isHuman ? sizeText($0) : String($0) } ?? "deleted"
            let size = padded(text, to: isHuman ? 8 : 14, isNumber: true)
            let time = version.lastModified ?? String(repeating: " ", count: 24)
            let mark = version.isLatest ? "*" : " "
            return context.say(
                "\(time)  \(size)  \(version.versionID)  \(mark) \(version.key)"
            )
        }
        guard isEmpty, !start.isEmpty else { return .success }
        context.complain("no key begins with '\(displayText(start))'")
        return .incomplete
    }

    /// The bucket whose prefix is listed, and the object or the beginning of a name that the text
    /// may mean.
    private func place(_ text: String) throws -> (BucketClient, ObjectReference?) {
        // Another kind of address is a mistake, and no directory.
        let isAddress = text.utf8.drop { $0 != UInt8(ascii: ":") }.starts(with: "://".utf8)
        guard isAddress else {
            let mirror = try DirectoryMirror(
                directory: text,
                remote: nil,
                allowsRebinding: false,
                sources: context.sources
            )
            return (try mirror.bucketClient(), nil)
        }
        let object = try ObjectReference(parsing: text)
        let client = try BucketClient(remote: try Remote(parsing: text), sources: context.sources)
        return (client, object.isDirectory ? nil : object)
    }
}

/// Objects on their way to stdout, one line each, or their sums.
private struct ObjectList {
    /// More classes than stores have; a hostile listing may name one for each object.
    private static let classLimit = 32

    private struct Sum {
        var count = 0
        var bytes: Int64 = 0

        mutating func add(_ size: Int64) {
            count += 1
            bytes = bytes.addingReportingOverflow(size).partialValue
        }
    }

    private let context: CommandContext
    let isLong: Bool
    private let isSummary: Bool
    private let isHuman: Bool
    private var whole = Sum()
    private var classes: [String: Sum] = [:]
    /// The one object that was asked for.
    private(set) var held: ListedObject?

    init(_ context: CommandContext) {
        self.context = context
        isLong = context.arguments.has(.long)
        isSummary = context.arguments.has(.summary)
        isHuman = context.arguments.has(.humanReadable)
    }

    var isEmpty: Bool { whole.count == 0 }

    mutating func hold(_ object: ListedObject) { held = object }

    /// False if it could not be written.
    mutating func add(_ object: ListedObject, crc64: UInt64? = nil) -> Bool {
        whole.add(object.size)
        guard !isSummary else {
            let isKnown = classes[object.storageClass] != nil || classes.count < Self.classLimit
            classes[isKnown ? object.storageClass : "others", default: Sum()].add(object.size)
            return true
        }
        return context.output.isJSON ? writeJSON(object, crc64) : writeText(object, crc64)
    }

    /// False if it could not be written.
    mutating func add(_ entry: LevelEntry) -> Bool {
        switch entry {
        case .object(let object): return add(object)
        case .directory(let key, _):
            whole.add(0)
            guard !context.output.isJSON else {
                var line = EventJSON.line("prefix", time: WallClock.text())
                line.add("key", key)
                return context.say(line)
            }
            let blank = { String(repeating: " ", count: $0) }
            var columns = [blank(24), blank(isHuman ? 8 : 14)]
            if isLong { columns += ["-", "-", "-"] }
            return context.say((columns + [key]).joined(separator: "  "))
        }
    }

    /// Writes the sums if they were asked for.
    func finish() {
        guard isSummary else { return }
        let names = classes.keys.sorted()
        if context.output.isJSON {
            var line = EventJSON.line("objects", time: WallClock.text())
            line.add("count", whole.count)
            line.add("bytes", whole.bytes)
            line.add(
                "classes",
                names.map { name in
                    var line = JSONLine()
                    line.add("storage_class", name)
                    line.add("count", classes[name]?.count ?? 0)
                    line.add("bytes", classes[name]?.bytes ?? 0)
                    return line
                }
            )
            context.say(line)
            return
        }
        for name in names { say(classes[name] ?? Sum(), name) }
        say(whole, "total")
    }

    private func say(_ sum: Sum, _ name: String) {
        let count = padded(String(sum.count), to: 10, isNumber: true)
        context.say("\(count)  \(sizeColumn(sum.bytes))  \(name)")
    }

    private func sizeColumn(_ size: Int64) -> String {
        isHuman
            ? padded(sizeText(size), to: 8, isNumber: true)
            : padded(String(size), to: 14, isNumber: true)
    }

    private func writeText(_ object: ListedObject, _ crc64: UInt64?) -> Bool {
        var columns = [
            object.lastModified ?? String(repeating: " ", count: 24), sizeColumn(object.size),
        ]
        if isLong {
            columns += [object.etag, object.storageClass, crc64.map { String($0) } ?? "-"]
        }
        return context.say((columns + [object.key]).joined(separator: "  "))
    }

    private func writeJSON(_ object: ListedObject, _ crc64: UInt64?) -> Bool {
        var line = EventJSON.line("object", time: WallClock.text())
        line.add("key", object.key)
        line.add("size", object.size)
        line.add("etag", object.etag)
        line.add("last_modified", ifPresent: object.lastModified)
        line.add("storage_class", object.storageClass)
        line.add("crc64", ifPresent: crc64.map { String($0) })
        return context.say(line)
    }
}
