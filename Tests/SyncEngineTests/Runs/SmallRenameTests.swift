import Foundation
import ObjectStorage
import StorageServer
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

/// A small file that was renamed is sent anew, and its object is the old one but for the name.
@Suite("Renames of small files")
struct SmallRenameTests {
    private let fixture: MirrorFixture

    /// A mirror "a" whose objects have properties of other tools.
    init() async throws {
        fixture = try MirrorFixture()
        for name in ["page.txt", "other.txt"] {
            try fixture.write("a/" + name, MirrorFixture.ramp(700, name.count))
            try fixture.setModified("a/" + name, Date(timeIntervalSince1970: 1_700_000_000.5))
        }
        try await push {
            $0.properties.metadata["colour"] = "blue"
            $0.properties.contentHeaders["cache-control"] = "max-age=7"
            $0.properties.contentHeaders["content-encoding"] = "gzip"
        }
        fixture.server.clearRequestLog()
    }

    @discardableResult
    private func push(_ change: (inout RunOptions) -> Void = { _ in }) async throws -> RunSummary {
        var engine = try fixture.engine("a")
        engine.settings.limits.smallestSearchable = 256 << 10
        return try await engine.run(
            .push,
            options: MirrorFixture.options(change),
            onEvent: { _ in }
        )
    }

    private func head(_ key: String) async throws -> ObjectMetadata {
        try await fixture.store(StoreObserver()).head(
            ObjectKey("mirror/" + key),
            versionID: nil
        )
    }

    private func rename(_ old: String, _ new: String) throws {
        try FileManager.default.moveItem(
            atPath: fixture.directory("a/" + old),
            toPath: fixture.directory("a/" + new)
        )
    }

    @Test func `keep what other tools put on their objects, for one request`() async throws {
        try rename("page.txt", "page.html")
        #expect(try await push { $0.deletesKnown = true }.transferred == 1)
        let requests = fixture.operations.filter { $0 == "HeadObject" || $0 == "PutObject" }
        // One of them is of the object that is deleted.
        #expect(requests.count(where: { $0 == "HeadObject" }) <= 2, "\(fixture.operations)")
        #expect(requests.count(where: { $0 == "PutObject" }) == 1)
        let object = try await head("page.html")
        #expect(object.userMetadata["colour"] == "blue")
        #expect(object.contentHeaders["cache-control"] == "max-age=7")
        #expect(object.contentHeaders["content-encoding"] == "gzip")
        #expect(object.contentType == "text/html", "the type is that of the new name")
    }

    @Test func `are none where the old name is still there, or the content is new`() async throws {
        try FileManager.default.linkItem(
            atPath: fixture.directory("a/page.txt"),
            toPath: fixture.directory("a/link.txt")
        )
        try rename("other.txt", "edited.txt")
        try fixture.write("a/edited.txt", MirrorFixture.ramp(701, 3))
        #expect(try await push().transferred == 2)
        for name in ["link.txt", "edited.txt"] {
            #expect(try await head(name).userMetadata["colour"] == nil, "\(name)")
        }
    }
}
