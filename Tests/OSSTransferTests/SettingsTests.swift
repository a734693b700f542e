import OSSBucket
import OSSTransfer
import OSSTransferTesting
import StorageServer
import StoreFixture
import Testing

/// No value of a setting crashes a program or makes it wait for ever.
@Suite("Settings", .timeLimit(.minutes(5)))
struct SettingsTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private static let durations: [Duration] = [
        .seconds(Int64.max), .seconds(Int64.min), .seconds(-1), .nanoseconds(1), .days(400),
    ]
    private static let counts = [Int.max, .min, -1]

    typealias DownloadChange = @Sendable (inout DownloadOptions) -> Void
    typealias UploadChange = @Sendable (inout UploadOptions) -> Void
    typealias Change = @Sendable (inout ConnectionSettings) -> Void

    static let connections: [Change] =
        durations.flatMap { value -> [Change] in
            [{ $0.connectTimeout = value }, { $0.stallTimeout = value }]
        }
        + [{ $0.connectTimeout = .zero }, { $0.stallTimeout = .zero }]
        + durations.filter { $0 != .nanoseconds(1) }
        .map { value -> Change in { $0.longestRetryPause = value } }
        + counts.flatMap { value -> [Change] in
            [{ $0.retries = value }, { $0.connectionLimit = value }]
        }
        + [{ $0.connectionLimit = 0 }] + bandwidths

    #if SystemLibraries
    private static let bandwidths: [Change] = [
        { $0.bandwidthLimit = 0 }, { $0.bandwidthLimit = -1 }, { $0.bandwidthLimit = .min },
    ]
    #else
    private static let bandwidths: [Change] = []
    #endif

    @Test func `that no connection can have are refused where they are used`() throws {
        for change in Self.connections {
            let client = #expect(throws: TransferError.self) {
                try fixture.client { change(&$0.connection) }
            }
            #expect(client?.code == .configuration)
            var connection = ConnectionSettings()
            change(&connection)
            let chosen = connection
            let source = #expect(throws: TransferError.self) {
                try DownloadSource.presigned(
                    PresignedURLs(get: "https://example.com/key"),
                    connection: chosen
                )
            }
            #expect(source?.code == .configuration)
            #expect(source?.message.contains("must be between") == true)
        }
    }

    @Test func `at their bounds work`() async throws {
        #if SystemLibraries
        let limits: [Change] = [{ $0.bandwidthLimit = .max }]
        #else
        let limits: [Change] = []
        #endif
        let changes: [Change] =
            limits + [
                { $0.retries = 0 }, { $0.retries = 1_000 },
                { $0.connectionLimit = 1 }, { $0.connectionLimit = 1_024 },
                { $0.longestRetryPause = .zero }, { $0.longestRetryPause = .days(1) },
                { $0.stallTimeout = .days(1) }, { $0.connectTimeout = .days(1) },
            ]
        for change in changes {
            let client = try fixture.client { change(&$0.connection) }
            try await client.put([1, 2], to: "key")
            #expect(try await client.get("key", maxBytes: 10).value?.bytes == [1, 2])
        }
        let client = try fixture.client()
        #expect(try await client.get("key", maxBytes: .max).value?.bytes == [1, 2])
        for limit in [-1, Int.min] {
            await expectError(.configuration) {
                try await client.get("key", maxBytes: limit)
            }
        }
    }

    @Test func `of transfers that none can have are refused`() async throws {
        let client = try fixture.client()
        let downloads: [DownloadChange] =
            [
                { $0.partSize = 0 }, { $0.partSize = .min }, { $0.streams = 0 },
                { $0.streams = .max }, { $0.streams = .min }, { $0.pauseLoss = 0 },
                { $0.pauseLoss = .min }, { $0.progressInterval = .zero },
                { $0.progressInterval = .seconds(Int64.max) },
            ] + Self.policies.map { policy -> DownloadChange in { $0.reconnects = policy } }
        for change in downloads {
            var options = DownloadOptions()
            change(&options)
            let chosen = options
            let error = #expect(throws: TransferError.self) {
                try fixture.resumable(.object(client, key: "key"), chosen)
            }
            #expect(error?.code == .configuration)
        }
        let uploads: [UploadChange] =
            [
                { $0.partSize = 0 }, { $0.partSize = .min }, { $0.partSize = .max },
                { $0.streams = 0 }, { $0.streams = .max }, { $0.progressInterval = .zero },
            ] + Self.policies.map { policy -> UploadChange in { $0.reconnects = policy } }
        for change in uploads {
            var options = UploadOptions()
            change(&options)
            let chosen = options
            let error = #expect(throws: TransferError.self) {
                try ResumableUpload(
                    of: fixture.path("file"),
                    to: client,
                    key: "key",
                    options: chosen
                )
            }
            #expect(error?.code == .configuration)
        }
        for (partSize, streams) in [(Int64(0), 1), (.min, 1), (1, 0), (1, .max)] {
            await expectError(.configuration) {
                try await DownloadSource.object(client, key: "key")
                    .write(to: 1, name: "out", partSize: partSize, streams: streams)
            }
        }
    }

    private static let policies: [ConnectionSettings.ReconnectPolicy] =
        [.seconds(Int64.max), .seconds(-1)].flatMap { wait in
            [
                ConnectionSettings.ReconnectPolicy(
                    firstPause: wait,
                    longestPause: .zero,
                    attempts: 1
                ),
                ConnectionSettings.ReconnectPolicy(
                    firstPause: .zero,
                    longestPause: wait,
                    attempts: 1
                ),
            ]
        } + [
            ConnectionSettings.ReconnectPolicy(firstPause: .zero, longestPause: .zero, attempts: -1)
        ]

    @Test func `of a download at their bounds work`() async throws {
        let client = try fixture.client()
        try await client.put(StoreFixture.ramp(10), to: "key")
        var options = DownloadOptions()
        options.partSize = .max
        options.streams = 64
        options.pauseLoss = .max
        options.reconnects = ConnectionSettings.ReconnectPolicy(
            firstPause: .days(1),
            longestPause: .days(1),
            attempts: .max
        )
        let download = try fixture.resumable(.object(client, key: "key"), options)
        #expect(try await download.run().file?.info.size == 10)
    }

    @Test func `of a manager that it cannot have are refused`() async throws {
        let client = try fixture.client()
        let job = TransferJob.download(.object(client, key: "key"), to: fixture.path("file"))
        let path = fixture.path("transfers")
        func make(_ limit: Int, _ wait: Duration) async throws(TransferError) -> TransferManager {
            try await TransferManager(directory: path, limit: limit, providerLimit: wait) { _ in
                job
            }
        }
        let values =
            [Int.min, -1, 0].map { ($0, Duration.seconds(1)) }
            + (Self.durations + [.zero]).map { (1, $0) }
        for (limit, wait) in values {
            let error = await expectError(.configuration) { try await make(limit, wait) }
            #expect(error?.message.contains("must be between") == true)
        }
        try await client.put([1], to: "key")
        let manager = try await make(.max, .days(1))
        try await manager.add("key", priority: .max)
        try await manager.setPriority(.min, of: "key")
        try await manager.start("key")
        try await manager.runUntilIdle()
        #expect(await manager["key"]?.state == .finished)
        for id in ["", String(repeating: "i", count: 1_025)] {
            await expectError(.configuration) { try await manager.add(id) }
        }
        await expectError(.configuration) {
            let text = String(repeating: "c", count: 64 << 10 + 1)
            try await manager.add("id", kind: .upload, path: path, context: text)
        }
    }

    @Test func `of times and ranges crash nothing`() async throws {
        let memory = InMemoryBucket()
        memory.failNextRequests(.min)
        for client in [try fixture.client(), memory.client] {
            try await client.put([1, 2, 3], to: "key")
            for seconds in [Int64.min, -62_135_596_801, -1, 0] {
                let time = StoreTime(secondsSince1970: seconds)
                let since = ObjectConditions(ifModifiedSince: time)
                #expect(try await client.get("key", conditions: since).value?.bytes == [1, 2, 3])
                #expect(try await client.head("key", conditions: since).value?.size == 3)
            }
            for seconds in [253_402_300_800, Int64.max] {
                let time = StoreTime(secondsSince1970: seconds, nanoseconds: 999_999_999)
                let until = ObjectConditions(ifUnmodifiedSince: time)
                #expect(try await client.get("key", conditions: until).value?.bytes == [1, 2, 3])
            }
            let impossible: [ObjectRange] = [
                .bytes(5..<5), .bytes(-1..<2), .bytes(Int64.min..<Int64.max),
                .bytes(Int64.min..<Int64.min), .from(-1), .from(.min), .last(-1), .last(.min),
            ]
            for range in impossible {
                let error = await expectError(.configuration) {
                    try await client.get("key", range: range)
                }
                #expect(error?.message.contains("'\(range.text)'") == true)
            }
            for range in [ObjectRange.bytes(0..<Int64.max), .from(0), .last(.max)] {
                #expect(try await client.get("key", range: range).value?.bytes == [1, 2, 3])
            }
            for range in [ObjectRange.bytes(7..<9), .from(.max), .last(0)] {
                #expect(try await client.get("key", range: range) == .rangeNotSatisfiable)
            }
        }
        let old = ObjectConditions(ifUnmodifiedSince: StoreTime(secondsSince1970: .min))
        #expect(try await fixture.client().get("key", conditions: old) == .preconditionFailed)
    }

    @Test(arguments: [(Int32.min, Int32(0)), (-1, 0), (1_000_000_000, 999_999_999)])
    func `of nanoseconds are brought within a second`(given: Int32, kept: Int32) {
        let time = StoreTime(secondsSince1970: .min, nanoseconds: given)
        #expect(time.nanoseconds == kept)
        #expect(!time.text.isEmpty && !time.localText.isEmpty && !time.localOffset.isEmpty)
    }

    @Test(arguments: [Int64.min, -1, 0, .max])
    func `of keys: any time of their end can be told`(seconds: Int64) async throws {
        let key = AccessKey(
            id: "id",
            secret: "secret",
            expiration: StoreTime(secondsSince1970: seconds)
        )
        let fixture = try StoreFixture(credentials: .provider { key })
        defer { fixture.stop() }
        let client = try fixture.client()
        try await client.put([1], to: "key")
        #expect(try await client.get("key", maxBytes: 1).value?.bytes == [1])
        for lifetime in [.seconds(Int64.max), .seconds(Int64.min), .zero] as [Duration] {
            await #expect(throws: TransferError.self) {
                try await client.presignedURL(.get, key: "key", lifetime: lifetime)
            }
        }
    }
}

extension Duration {
    fileprivate static func days(_ count: Int64) -> Duration { .seconds(count * 86_400) }
}
