internal import OSSBucket
internal import OSSSync

/// `osssync ls`.
struct ListCommand: Sendable {
    let context: CommandContext

    /// What is listed.
    private struct Place {
        let client: BucketClient
        let remote: BucketLocation
        /// The object or the beginning of a name that the text may mean.
        let object: ObjectReference?

        /// How the keys begin.
        var start: String { object?.key ?? remote.prefix }
        var display: String { object?.display ?? remote.display }
    }

    func run() async throws -> ExitCode {
        guard let text = context.positional(0) else { return .usage }
        let place = try place(text)
        if context.arguments.has(.versions) { return try await listVersions(place) }
        if context.arguments.has(.top) { return try await listTop(place) }
        let client = place.client
        var list = ObjectList(context)
        for try await object in client.objects(prefix: place.remote.prefix) {
            guard list.add(object) else { break }
        }
        if list.isEmpty, let object = place.object {
            // An object of this whole key is the first of those whose keys begin so.
            for try await found in client.objects(prefix: object.key) {
                if found.key.utf8.elementsEqual(object.key.utf8) {
                    list.hold(found)
                    break
                }
                guard list.add(found) else { break }
            }
        }
        if let found = list.held {
            // Only a request for the object itself tells its checksum.
            let info = list.isLong ? try await client.head(found.key).value : nil
            _ = list.add(found, crc64: info?.crc64)
        }
        list.finish()
        return ending(isEmpty: list.isEmpty, place)
    }

    private func ending(isEmpty: Bool, _ place: Place) -> ExitCode {
        guard isEmpty, !place.remote.prefix.isEmpty else { return .success }
        context.complain("no key begins with '\(place.display)'")
        return .incomplete
    }

    /// One level of the keys that begin with the address, as it is written.
    private func listTop(_ place: Place) async throws -> ExitCode {
        if context.arguments.has(.summary) {
            throw UsageError.contradiction("--top", Option.summary.name)
        }
        var list = ObjectList(context)
        for try await entry in place.client.level(prefix: place.start) {
            guard list.add(entry) else { break }
        }
        return ending(isEmpty: list.isEmpty, place)
    }

    private func listVersions(_ place: Place) async throws -> ExitCode {
        for other in [Option.summary, .long, .top] where context.arguments.has(other) {
            throw UsageError.contradiction("--versions", other.name)
        }
        var isEmpty = true
        for try await version in place.client.versions(prefix: place.start) {
            isEmpty = false
            guard say(version) else { break }
        }
        guard isEmpty, !place.start.isEmpty else { return .success }
        context.complain("no key begins with '\(String(terminalSafe: place.start))'")
        return .incomplete
    }

    /// False if it could not be written.
    private func say(_ version: ListedVersion) -> Bool {
        let versionID = String(terminalSafe: version.versionID)
        guard !context.output.isJSON else {
            return context.say([
                "event": "version",
                "key": JSONKey(version.key, version.displayKey),
                "version_id": version.versionID,
                "latest": version.isLatest,
                "deleted": version.size == nil,
                "size": version.size,
                "etag": version.etag,
                "last_modified": version.lastModified?.text,
            ])
        }
        let isHuman = context.arguments.has(.humanReadable)
        let text = version.size.map { isHuman ? sizeText($0) : String($0) } ?? "deleted"
        let size = padded(text, to: isHuman ? 8 : 14, isNumber: true)
        let time = version.lastModified?.text ?? String(repeating: " ", count: 24)
        let mark = version.isLatest ? "*" : " "
        return context.say("\(time)  \(size)  \(versionID)  \(mark) \(version.displayKey)")
    }

    private func place(_ text: String) throws -> Place {
        // Another kind of address is a mistake, and no directory.
        let isAddress = text.utf8.drop { $0 != UInt8(ascii: ":") }.starts(with: "://".utf8)
        guard isAddress else {
            guard isDirectory(text) else {
                let shown = String(terminalSafe: text)
                throw TransferError(
                    code: .configuration,
                    message:
                        "there is no directory '\(shown)'; to list a bucket, use oss://\(shown) "
                        + "or s3://\(shown)"
                )
            }
            let mirror = try DirectoryMirror(
                directory: text,
                remote: nil,
                allowsRebinding: false,
                sources: context.sources
            )
            return Place(client: try mirror.bucketClient(), remote: mirror.remote, object: nil)
        }
        let object = try ObjectReference(parsing: text)
        return Place(
            client: try BucketClient(
                object.bucket,
                dialect: object.dialect,
                sources: context.sources
            ),
            remote: try BucketLocation(parsing: text),
            object: object.isDirectory ? nil : object
        )
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
            let name = String(terminalSafe: object.storageClass)
            let isKnown = classes[name] != nil || classes.count < Self.classLimit
            classes[isKnown ? name : "others", default: Sum()].add(object.size)
            return true
        }
        return context.output.isJSON ? writeJSON(object, crc64) : writeText(object, crc64)
    }

    /// False if it could not be written.
    mutating func add(_ entry: LevelEntry) -> Bool {
        switch entry {
        case .object(let object): return add(object)
        case .directory(let key, let shown):
            whole.add(0)
            guard !context.output.isJSON else {
                return context.say(["event": "prefix", "key": JSONKey(key, shown)])
            }
            let blank = { String(repeating: " ", count: $0) }
            var columns = [blank(24), blank(isHuman ? 8 : 14)]
            if isLong { columns += ["-", "-", "-"] }
            return context.say((columns + [shown]).joined(separator: "  "))
        }
    }

    /// Writes the sums if they were asked for.
    func finish() {
        guard isSummary else { return }
        let names = classes.keys.sorted()
        if context.output.isJSON {
            let sums = names.map { name -> JSONLine in
                let sum = classes[name] ?? Sum()
                return ["storage_class": name, "count": sum.count, "bytes": sum.bytes]
            }
            context.say([
                "event": "objects", "count": whole.count, "bytes": whole.bytes, "classes": sums,
            ])
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
            object.lastModified?.text ?? String(repeating: " ", count: 24),
            sizeColumn(object.size),
        ]
        if isLong {
            columns += [
                String(terminalSafe: object.etag), String(terminalSafe: object.storageClass),
                crc64.map { String($0) } ?? "-",
            ]
        }
        return context.say((columns + [object.displayKey]).joined(separator: "  "))
    }

    private func writeJSON(_ object: ListedObject, _ crc64: UInt64?) -> Bool {
        context.say([
            "event": "object",
            "key": JSONKey(object.key, object.displayKey),
            "size": object.size,
            "etag": object.etag,
            "last_modified": object.lastModified?.text,
            "storage_class": String(terminalSafe: object.storageClass),
            "crc64": crc64.map { String($0) },
        ])
    }
}
