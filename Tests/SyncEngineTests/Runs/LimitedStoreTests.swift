import Foundation
import ObjectStorage
import StorageServer
import SyncModel
import Synchronization
import Testing

@testable import OSSTransfer
@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    @Suite("The limit of connections")
    struct LimitedStoreTests {
        struct Request: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let send: @Sendable (LimitedStore) async throws -> Void

            init(_ name: String, _ send: @escaping @Sendable (LimitedStore) async throws -> Void) {
                testDescription = name
                self.send = send
            }
        }

        private static let upload = UploadID("u")
        private static let requests = [
            Request("list") { _ = try await $0.list(ListRequest(prefix: "")) },
            Request("head") { _ = try await $0.head("k", versionID: nil) },
            Request("symlinkTarget") { _ = try await $0.symlinkTarget("k") },
            Request("get") { store in
                let sink = FileSink(
                    descriptor: -1,
                    fileOffset: 0,
                    expectedLength: 1,
                    initialChecksum: CRC64(),
                    checkpointInterval: .max,
                    maximumUnacknowledged: .max,
                    onCheckpoint: { _, _ in },
                    onProgress: { _ in }
                )
                _ = try await store.get(GetRequest(key: "k"), into: sink)
            },
            Request("put") { store in
                _ = try await store.put(PutRequest(key: "k"), body: .bytes([1])) { _ in }
            },
            Request("copy") { _ = try await $0.copy(CopyRequest(source: "k", destination: "l")) },
            Request("delete") { _ = try await $0.delete(["k"]) },
            Request("initiate") { store in
                _ = try await store.initiateMultipartUpload(PutRequest(key: "k"))
            },
            Request("uploadPart") { store in
                let first = PartNumber(index: 0)
                _ = try await store.uploadPart("k", upload, first, body: .none) { _ in }
            },
            Request("uploadPartCopy") { store in
                _ = try await store.uploadPartCopy(
                    PartCopyRequest(
                        source: "k",
                        sourceRange: ByteRange(offset: 0, length: 1),
                        destination: "l",
                        upload: upload,
                        number: PartNumber(index: 0)
                    )
                )
            },
            Request("listParts") { _ = try await $0.listParts("k", upload, after: nil) },
            Request("complete") { store in
                _ = try await store.completeMultipartUpload(
                    CompleteRequest(key: "k", upload: upload, parts: [])
                )
            },
            Request("abort") { try await $0.abortMultipartUpload("k", upload) },
            Request("listUploads") { store in
                _ = try await store.listMultipartUploads(ListUploadsRequest(prefix: "k"))
            },
        ]

        @Test(arguments: requests)
        func `a request waits for the one before it, and gives its place back`(
            request: Request
        ) async throws {
            let fixture = try MirrorFixture()
            let limiter = makeLimiter(1, byteBudget: 100)
            let begun = Atomic(0)
            let gate = ProgressGate(bytes: 0)
            let hooked = HookedStore(try fixture.store(StoreObserver())) {
                _ throws(StorageError) in
                let number = begun.add(1, ordering: .acquiringAndReleasing).newValue
                if number == 1 { await gate.wait() }
                throw StorageError(kind: .credentials("none"), operation: "none")
            }
            let store = LimitedStore(hooked, limiter)
            await withTaskGroup { group in
                for _ in 0..<2 { group.addTask { try? await request.send(store) } }
                while begun.load(ordering: .acquiring) + limiter.waitingCount < 2 {
                    await Task.yield()
                }
                gate.open()
            }
            #expect(hooked.mostAtOnce == 1)
            await #expect(throws: StorageError.self) { try await request.send(store) }
            #expect(begun.load(ordering: .acquiring) == 3)
        }

        @Test(arguments: requests)
        func `a bucket as it was is never written to`(request: Request) async throws {
            let fixture = try MirrorFixture()
            let observer = StoreObserver()
            let past = PastStore(try fixture.store(observer), .at(Timestamp(seconds: 0)))
            let store = LimitedStore(past, makeLimiter(1, byteBudget: 100))
            // It can be listed, and has nothing.
            _ = try? await request.send(store)
            let reading = ["List", "Get", "Head"]
            #expect(
                fixture.operations.allSatisfy { name in reading.contains { name.hasPrefix($0) } }
            )
        }

        @Test func `a request that is cancelled in the line is not sent`() async throws {
            let fixture = try MirrorFixture()
            let limiter = makeLimiter(1, byteBudget: 100)
            let store = LimitedStore(try fixture.store(StoreObserver()), limiter)
            try await limiter.acquire(bytes: 0)
            await withThrowingTaskGroup { group in
                group.addTask { try await store.head("k", versionID: nil) }
                group.cancelAll()
                let error = await #expect(throws: StorageError.self) { try await group.next() }
                #expect(error?.isCancelled == true)
            }
            limiter.release(bytes: 0, isSuccess: true)
            #expect(fixture.server.requestLog.isEmpty)
            #expect(limiter.waitingCount == 0)
        }

        /// Counts what is under way at once, and lets others begin before each request goes on.
        private func counting(_ store: any ObjectStore) -> HookedStore {
            HookedStore(store, pageSize: 4) { _ throws(StorageError) in
                for _ in 0..<20 { await Task.yield() }
            }
        }

        private static let limits = [
            (isS3: false, 1), (isS3: true, 1), (isS3: false, RunOptions.standard.connectionLimit),
        ]

        @Test(arguments: limits)
        func `no run has more requests under way than it may`(isS3: Bool, limit: Int) async throws {
            let fixture = try MirrorFixture(dialect: isS3 ? .s3 : .oss)
            func peak(
                _ name: String,
                _ work: (MirrorEngine, RunOptions) async throws -> Void
            ) async throws -> Int {
                var hooked: HookedStore?
                var engine = try fixture.engine(name) { store in
                    let made = counting(store)
                    hooked = made
                    return made
                }
                // The listing is cut at every row, and six pieces of it are listed side by side.
                engine.settings.limits.rowsPerListing = 1
                engine.settings.limits.largeItem = 1 << 20
                var options = MirrorFixture.options { $0.connectionLimit = limit }
                options.deletesExtra = true
                options.deletionLimit = .count(1_000)
                try await work(engine, options)
                return try #require(hooked).mostAtOnce
            }
            func run(_ name: String, _ direction: SyncDirection) async throws {
                let peak = try await peak(name) { engine, options in
                    let summary = try await engine.run(direction, options: options) { _ in }
                    #expect(summary.isInStep)
                }
                #expect((1...limit).contains(peak), "\(direction) of \(name)")
            }
            for index in 0..<20 { try fixture.write("a/d/f\(index)", MirrorFixture.ramp(9, index)) }
            try fixture.write("a/big", MirrorFixture.ramp(11 << 20))
            try fixture.write("a/moved", MirrorFixture.ramp(2 << 20, 3))
            try fixture.makeDirectory("a/empty")
            try await run("a", .push)
            try await run("b", .pull)
            // A rename is a copy in the bucket; the rest are replaced, deleted and new.
            try FileManager.default.moveItem(
                atPath: fixture.directory("a/moved"),
                toPath: fixture.directory("a/there")
            )
            for index in 0..<5 { try fixture.remove("a/d/f\(index)") }
            for index in 5..<10 { try fixture.write("a/d/f\(index)", MirrorFixture.ramp(99)) }
            for index in 10..<15 { try fixture.remove("b/d/f\(index)") }
            for index in 20..<30 { try fixture.write("b/d/f\(index)", MirrorFixture.ramp(9)) }
            try await run("a", .sync)
            try await run("b", .sync)
            try await run("a", .pull)
            let status = try await peak("a") { engine, options in
                _ = try await engine.status(options: options)
            }
            #expect((1...limit).contains(status))
            #expect(try fixture.tree("a") == fixture.tree("b"))
        }

        @Test(arguments: [1, 3])
        func `no single transfer has more requests under way than streams`(
            streams: Int
        ) async throws {
            let fixture = try MirrorFixture()
            let content = MirrorFixture.ramp(7 << 20)
            try fixture.write("file", content)
            let sending = counting(try fixture.store(StoreObserver()))
            var sent = UploadOptions()
            (sent.partSize, sent.streams, sent.ifExists) = (1 << 20, streams, .fail)
            let target = UploadTarget(
                key: "mirror/object",
                dialect: .oss,
                object: "object",
                subject: "subject",
                makeStore: { sending }
            )
            _ = try await ResumableUpload(
                of: fixture.directory("file"),
                to: target,
                options: sent
            ).run()
            #expect((1...streams).contains(sending.mostAtOnce))
            #expect(sending.count("UploadPart") == 7)
            let fetching = counting(try fixture.store(StoreObserver()))
            var fetched = DownloadOptions()
            (fetched.partSize, fetched.streams, fetched.ifExists) = (1 << 20, streams, .fail)
            let source = DownloadSource(
                key: "mirror/object",
                subject: "subject",
                makeStore: { fetching }
            )
            _ = try await ResumableDownload(
                from: source,
                to: fixture.directory("fetched"),
                options: fetched
            ).run()
            #expect((1...streams).contains(fetching.mostAtOnce))
            #expect(fixture.content("fetched") == content)
        }
    }
}
