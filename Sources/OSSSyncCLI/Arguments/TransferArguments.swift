internal import OSSSync

/// The choices that `get` and `put` share.
struct TransferArguments: Sendable {
    /// The argument that stands for standard input or output in the place of a file.
    static let stream = "-"

    private static let streamBounds = 1...64

    /// Nil for the library's own.
    let partSize: Int64?
    let streams: Int?
    let replaces: Bool

    init(_ context: CommandContext) throws {
        let arguments = context.arguments
        replaces = arguments.has(.force)
        streams = try arguments.given(.jobs, expected: "expected a number from 1 to 64") {
            parseCount($0, in: Self.streamBounds)
        }
        partSize = try arguments.given(
            .partSize,
            expected: "expected a size from 100K to 5G, such as 8M"
        ) { text in
            parseSize(text).flatMap { RunOptions.partSizes.contains($0) ? $0 : nil }
        }
    }
}
