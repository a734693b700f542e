import Foundation
import OSSBucket
import StorageServer
import StoreFixture
import Testing

@testable import OSSTransfer

/// What a later process must find again, however the file and the object are named by then.
@Suite("The record of an unfinished transfer")
struct RecordIdentityTests {
    private static let content = StoreFixture.ramp(3_000_000)
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private static func options(_ records: String) -> DownloadOptions {
        var options = DownloadOptions.inPieces
        options.recordDirectory = records
        return options
    }

    /// Resumes a paused download as another process would, and returns the bytes that were sent.
    private func finish(
        _ fixture: StoreFixture,
        from source: DownloadSource,
        to path: String,
        _ options: DownloadOptions
    ) async throws -> Int64 {
        let notices = Notices()
        let download = try ResumableDownload(
            from: source,
            to: path,
            options: options,
            onNotice: notices.add
        )
        fixture.server.clearRequestLog()
        #expect(try await download.run().file?.info.size == 3_000_000)
        #expect(FileManager.default.contents(atPath: path) == Data(Self.content))
        let resumed = notices.all.contains { if case .resumed = $0 { true } else { false } }
        #expect(resumed && notices.all.count == 1, "\(notices.all)")
        return fixture.bytesSent
    }

    @Test func `is found after its directory was moved`() async throws {
        let urls = try await fixture.presigned(Self.content)
        for folder in ["app-1/files", "app-1/records"] {
            try fixture.write(folder + "/x", [])
        }
        var options = Self.options(fixture.path("app-1/records"))
        options.base = fixture.path("app-1")
        let first = try fixture.resumable(.presigned(urls), to: "app-1/files/film", options)
        let checkpoint = try #require(try await fixture.pause(first))
        try FileManager.default.moveItem(
            atPath: fixture.path("app-1"),
            toPath: fixture.path("app-2")
        )
        options.recordDirectory = fixture.path("app-2/records")
        options.base = fixture.path("app-2")
        let sent = try await finish(
            fixture,
            from: .presigned(urls),
            to: fixture.path("app-2/files/film"),
            options
        )
        #expect(sent == 3_000_000 - checkpoint.receivedLength)
        #expect(fixture.names(in: "app-2/files") == ["film", "x"])
        #expect(fixture.names(in: "app-2/records") == ["x"])
        let outside = try fixture.resumable(.presigned(urls), to: "film", options)
        let error = await #expect(throws: TransferError.self) { try await outside.run() }
        #expect(error?.code == .localState && error?.message.contains("is not in") == true)
    }

    @Test func `is found by another spelling of the path, at another host, by credentials`()
        async throws
    {
        let urls = try await fixture.presigned(Self.content)
        try fixture.write("shelf/x", [])
        try FileManager.default.createSymbolicLink(
            atPath: fixture.path("link"),
            withDestinationPath: "shelf"
        )
        let options = Self.options(fixture.path("records"))
        let plain = PresignedURLs(get: urls.get)
        let cdn = PresignedURLs(
            get: urls.get.replacing("127.0.0.1", with: "localhost"),
            head: urls.head?.replacing("127.0.0.1", with: "localhost")
        )
        #expect(cdn != urls)
        let sources: [(path: String, source: DownloadSource)] = [
            ("shelf/./film", try .presigned(urls)),
            ("link//film", try .presigned(plain)),
            ("server/../shelf/film", try .presigned(cdn)),
            ("shelf/film", .object(try fixture.client(), key: "key")),
        ]
        for (path, source) in sources {
            let first = try fixture.resumable(.presigned(urls), to: "shelf/film", options)
            let checkpoint = try #require(try await fixture.pause(first))
            let sent = try await finish(fixture, from: source, to: fixture.path(path), options)
            // Without a URL for HEAD, one byte tells of the object.
            #expect((0...1).contains(sent - 3_000_000 + checkpoint.receivedLength), "\(path)")
            #expect(fixture.names(in: "shelf") == ["film", "x"])
            #expect(fixture.names(in: "records") == [])
        }
    }

    @Test func `of the app's own name leaves nothing where the file was to go before`()
        async throws
    {
        let urls = try await fixture.presigned(Self.content)
        for folder in ["a", "b"] { try fixture.write(folder + "/x", []) }
        var options = Self.options(fixture.path("records"))
        options.identity = "film 7"
        let first = try fixture.resumable(.presigned(urls), to: "a/film", options)
        let checkpoint = try #require(try await fixture.pause(first))
        // In the same directory, another name is no reason to begin again.
        let sent = try await finish(
            fixture,
            from: .presigned(urls),
            to: fixture.path("a/renamed"),
            options
        )
        #expect(sent == 3_000_000 - checkpoint.receivedLength)
        _ = try await fixture.pause(
            ResumableDownload(
                from: .presigned(urls),
                to: fixture.path("a/film"),
                options: options
            )
        )
        let moved = try fixture.resumable(.presigned(urls), to: "b/film", options)
        #expect(try await moved.run().file != nil)
        #expect(fixture.names(in: "a") == ["renamed", "x"])
        #expect(fixture.names(in: "b") == ["film", "x"])
        #expect(fixture.names(in: "records") == [])
    }

    @Test func `of an upload is found by another spelling and at another host`() async throws {
        try fixture.write("shelf/film", Self.content)
        var options = UploadOptions()
        options.partSize = 200_000
        options.recordDirectory = fixture.path("records")
        let first = try ResumableUpload(
            of: fixture.path("shelf/film"),
            to: fixture.client(),
            key: "k",
            options: options
        )
        _ = try await fixture.interrupt(first) { $0.transfer.pause() }
        let other = try fixture.client { configuration in
            configuration.endpoint = configuration.endpoint?.replacing(
                "127.0.0.1",
                with: "localhost"
            )
        }
        let second = try ResumableUpload(
            of: fixture.path("shelf/./film"),
            to: other,
            key: "k",
            options: options
        )
        _ = try await second.run()
        // Each part was stored once but for those that were under way.
        #expect(fixture.storedParts.count <= 15 + 4, "\(fixture.storedParts)")
        #expect(try await fixture.client().incompleteUploads(prefix: "") == [])
        #expect(fixture.names(in: "records") == [])
    }

    @Test func `keeps the mode of an existing directory, and refuses one that others may write`()
        async throws
    {
        let urls = try await fixture.presigned([1, 2, 3])
        for (mode, isAccepted) in [(0o755, true), (0o777, false)] {
            try? FileManager.default.removeItem(atPath: fixture.path("records"))
            try FileManager.default.createDirectory(
                atPath: fixture.path("records"),
                withIntermediateDirectories: false
            )
            try FileManager.default.setAttributes(
                [.posixPermissions: mode],
                ofItemAtPath: fixture.path("records")
            )
            let download = try fixture.resumable(
                .presigned(urls),
                Self.options(fixture.path("records"))
            )
            if isAccepted {
                _ = try await download.run()
            } else {
                let error = await expectError(.localState) { try await download.run() }
                #expect(error?.message.contains("other users can write to it") == true)
            }
            let found = try FileManager.default.attributesOfItem(atPath: fixture.path("records"))
            #expect(found[.posixPermissions] as? Int == mode)
        }
    }
}
