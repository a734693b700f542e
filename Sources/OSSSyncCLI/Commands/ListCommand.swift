internal import OSSSync

/// `osssync ls`.
struct ListCommand: Sendable {
    let context: CommandContext

    func run() async throws -> ExitCode {
        guard let remote = try context.remote(at: 0) else { return .usage }
        let client = try BucketClient(remote: remote, sources: context.sources)
        try await client.list { object in
            context.output.isJSON ? writeJSON(object) : writeText(object)
        }
        return .success
    }

    private func writeText(_ object: ListedObject) -> Bool {
        let size = String(object.size)
        let padding = String(repeating: " ", count: max(0, 14 - size.utf8.count))
        let time = object.lastModified ?? "-"
        return context.say("\(padding)\(size)  \(time)  \(object.etag)  \(object.key)")
    }

    private func writeJSON(_ object: ListedObject) -> Bool {
        var line = EventJSON.line("object", time: WallClock.text())
        line.add("key", object.key)
        line.add("size", object.size)
        line.add("etag", object.etag)
        line.add("last_modified", ifPresent: object.lastModified)
        line.add("storage_class", object.storageClass)
        return context.say(line)
    }
}
