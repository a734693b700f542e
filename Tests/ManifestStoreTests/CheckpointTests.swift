import ManifestStore
import SyncModel
import Testing

@Suite("Checkpoints of downloads")
struct DownloadCheckpointTests {
    @Test func `a checkpoint comes back with its ranges in order`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let checkpoint = Sample.download("a")
        try await store.record(.beginDownload(checkpoint))
        #expect(try await store.first(.download("a")) == checkpoint)
        #expect(try await store.first(.download("b")) == nil)
        try await store.record(.saveRange("a", Sample.range(1, received: 100), partialName: "p1"))
        try await store.record(.saveRange("a", Sample.range(0, received: 20), partialName: "p1"))
        let ranges = try await store.first(.download("a"))?.ranges
        #expect(ranges == [Sample.range(0, received: 20), Sample.range(1, received: 100)])
    }

    @Test func `each range keeps the boot in which its bytes were last seen`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        try await store.record(.beginDownload(Sample.download("a")))
        let verified = Sample.range(1, received: 30, bootID: "boot-2")
        try await store.record(.saveRange("a", verified, partialName: "p1"))
        let ranges = try await store.first(.download("a"))?.ranges
        #expect(ranges?.map(\.bootID) == ["boot-1", "boot-2"])
    }

    @Test func `a seal goes with its download and stands for no other`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        try await store.record(.beginDownload(Sample.download("a")))
        #expect(try await store.first(.download("a"))?.seal == nil)
        try await store.record(.sealDownload("a", Sample.source, partialName: "p1"))
        #expect(try await store.first(.download("a"))?.seal == Sample.source)
        await #expect(throws: ManifestError.checkpointGone("a")) {
            try await store.record(.sealDownload("a", Sample.source, partialName: "p2"))
        }
        try await store.record(.beginDownload(Sample.download("a", partialName: "p2")))
        #expect(try await store.first(.download("a"))?.seal == nil)
        try await store.record(.sealDownload("a", Sample.source, partialName: "p2"))
        try await store.record(.finishDownload("a"))
        try await store.record(.beginDownload(Sample.download("a", partialName: "p2")))
        #expect(try await store.first(.download("a"))?.seal == nil)
    }

    @Test func `a range of an earlier version does not count for the next one`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        try await store.record(.beginDownload(Sample.download("a", partialName: "old")))
        try await store.record(.beginDownload(Sample.download("a", partialName: "new", ranges: [])))
        let late = Sample.range(0, received: 99)
        await #expect(throws: ManifestError.checkpointGone("a")) {
            try await store.record(.saveRange("a", late, partialName: "old"))
        }
        await #expect(throws: ManifestError.checkpointGone("b")) {
            try await store.record(.saveRange("b", late, partialName: "old"))
        }
        #expect(try await store.first(.download("a"))?.ranges == [])
    }

    @Test func `a range beyond the end of its object is refused`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        try await store.record(.beginDownload(Sample.download("a")))
        await #expect(throws: ManifestError.checkpointGone("a")) {
            try await store.record(.saveRange("a", Sample.range(2), partialName: "p1"))
        }
    }

    @Test(arguments: [
        Sample.download("a", partialName: ""), Sample.download("a", partialName: ".."),
        Sample.download("a", partialName: "x/y"), Sample.download("a", partialName: "x\u{0}"),
        Sample.download("a", ranges: [Sample.range(1), Sample.range(0)]),
        Sample.download("a", ranges: [Sample.range(0), Sample.range(0)]),
        Sample.download("a", ranges: [Sample.range(2)]),
        Sample.download("a", ranges: [Sample.range(0, received: 101)]),
        Sample.download("a", ranges: [Sample.range(0, received: -1)]),
    ])
    func `a checkpoint that makes no sense is refused`(checkpoint: DownloadCheckpoint)
        async throws
    {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let error = await #expect(throws: ManifestError.self) {
            try await store.record(.beginDownload(checkpoint))
        }
        guard case .invalidValue = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try await store.first(.download("a")) == nil)
    }

    @Test func `the end of a download and its entry are one change`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        try await store.record(.beginDownload(Sample.download("a")))
        try await store.record([.upsert(Sample.entry("a")), .finishDownload("a")])
        #expect(try await store.first(.download("a")) == nil)
        #expect(try await store.entry("a") != nil)
        // Its ranges went with it: beginning again finds none.
        try await store.record(.beginDownload(Sample.download("a", ranges: [])))
        #expect(try await store.first(.download("a"))?.ranges == [])
        try await store.record(.finishDownload("a"))
        try await store.record(.finishDownload("a"))
        #expect(try await store.first(.download("a")) == nil)
    }

    @Test func `all checkpoints are found by a cursor`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        for key in ["c", "a", "b"] as [ObjectKey] {
            try await store.record(.beginDownload(Sample.download(key)))
        }
        var pages = store.pages(.downloads, limit: 2)
        let first = try #require(try await pages.next())
        #expect(first.map(\.key) == ["a", "b"])
        let rest = try #require(try await pages.next())
        #expect(rest == [Sample.download("c")])
    }
}

@Suite("Checkpoints of uploads")
struct UploadCheckpointTests {
    @Test func `an upload is known before the service has named it`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let begun = Sample.upload("a", uploadID: nil)
        try await store.record(.beginUpload(begun))
        #expect(try await store.first(.upload("a")) == begun)
        try await store.record(.setUploadID("a", UploadID("upload-1"), token: "token-1"))
        #expect(try await store.first(.upload("a")) == Sample.upload("a"))
    }

    @Test func `parts come back in order with their checksums`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        try await store.record(.beginUpload(Sample.upload("a", parts: [Sample.part(3)])))
        for index in [9_999, 1, 0] {
            try await store.record(
                .savePart("a", Sample.part(index), uploadID: UploadID("upload-1"))
            )
        }
        let parts = try await store.first(.upload("a"))?.parts
        #expect(parts == [0, 1, 3, 9_999].map { Sample.part($0) })
    }

    @Test func `answers to an earlier upload do not count for the next one`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        let second = Sample.upload("a", uploadID: "upload-2", token: "token-2")
        try await store.record(.beginUpload(Sample.upload("a", parts: [Sample.part(0)])))
        try await store.record(.beginUpload(second))
        await #expect(throws: ManifestError.checkpointGone("a")) {
            try await store.record(.savePart("a", Sample.part(1), uploadID: UploadID("upload-1")))
        }
        await #expect(throws: ManifestError.checkpointGone("a")) {
            try await store.record(.setUploadID("a", UploadID("late"), token: "token-1"))
        }
        #expect(try await store.first(.upload("a")) == second)
    }

    @Test func `the end of an upload and its entry are one change`() async throws {
        let directory = try StateDirectory()
        let store = try await directory.store()
        try await store.record(.beginUpload(Sample.upload("a", parts: [Sample.part(0)])))
        try await store.record(.beginUpload(Sample.upload("b")))
        try await store.record([.upsert(Sample.entry("a")), .finishUpload("a")])
        #expect(try await store.first(.upload("a")) == nil)
        let rest = try await store.rows(.uploads, limit: 9)
        #expect(rest == [Sample.upload("b")])
        try await store.record(.finishUpload("b"))
        #expect(try await store.first(.upload("b")) == nil)
    }
}
