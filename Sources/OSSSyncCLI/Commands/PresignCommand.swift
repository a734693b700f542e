internal import OSSBucket
internal import OSSSync

/// `osssync presign`.
struct PresignCommand: Sendable {
    let context: CommandContext

    func run() async throws -> ExitCode {
        let object = try context.object(context.positional(0) ?? "")
        let lifetime =
            try context.arguments.value(
                of: .expires,
                Reading("a time from 1s to 7d, such as 1800s, 15m or 2h") { text in
                    parseDuration(text).flatMap { Self.lifetimes.contains($0) ? $0 : nil }
                }
            ) ?? .seconds(1_800)
        let name = context.arguments.values[.method] ?? "GET"
        if name == "PUT" { try context.requirePlain(object) }
        let client = try BucketClient(
            object.bucket,
            dialect: object.dialect,
            sources: context.sources
        )
        let url = try await client.presignedURL(
            Self.method(name),
            key: object.key,
            lifetime: lifetime
        )
        if context.output.isJSON {
            context.say([
                "event": "presigned",
                "url": url,
                "method": name,
                "expires_in": lifetime.components.seconds,
            ])
        } else {
            context.say(url)
        }
        return .success
    }

    private static let lifetimes: ClosedRange<Duration> = .seconds(1) ... .seconds(7 * 86_400)

    private static func method(_ name: String) -> BucketClient.Method {
        switch name {
        case "HEAD": .head
        case "PUT": .put
        case "DELETE": .delete
        default: .get
        }
    }
}
