import Foundation
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    /// A directory into which nothing may be written, such as `/etc`; here the home directory is.
    @Suite("Directories that are only sent")
    struct SentOnlyTests {
        private let fixture: MirrorFixture

        init() throws {
            fixture = try MirrorFixture()
            for name in ["f", "g"] { try fixture.write("a/" + name, MirrorFixture.ramp(100)) }
        }

        private func engine() throws -> MirrorEngine {
            var engine = try fixture.engine("a")
            engine.settings.homeDirectory = fixture.directory("a")
            engine.settings.stateDirectory = fixture.directory("state")
            return engine
        }

        private func push(_ change: (inout RunOptions) -> Void = { _ in }) async throws {
            var options = MirrorFixture.options()
            (options.deletesKnown, options.trash) = (true, .remote)
            change(&options)
            _ = try await engine().run(.push, options: options, onEvent: { _ in })
        }

        private func trash() throws -> MirrorTrash {
            let settings = try engine().settings
            return MirrorTrash(
                settings: LocalMirror(
                    directory: settings.directory,
                    stateDirectory: settings.stateDirectory,
                    homeDirectory: settings.homeDirectory,
                    environment: settings.environment
                )
            )
        }

        private func objects() async throws -> [String] {
            try await fixture.objects().filter { !$0.hasPrefix(".") }
        }

        private func request(_ path: String, _ version: TrashVersion) -> RestoreRequest {
            RestoreRequest(paths: [path], version: version, target: nil, replaces: false)
        }

        @Test func `an undo puts back in the bucket what a push deleted there`() async throws {
            try await push()
            try fixture.remove("a/f")
            try await push()
            #expect(try await objects() == ["g"])
            var request = request(".", .run(2))
            request.isUndo = true
            // The command asks both sides.
            let here = try await trash().restore(request) { _ in }
            #expect(here.restored == 0)
            let report = try await engine()
                .restoreObjects(request, from: .trash, names: .skip) { _ in }.report
            #expect(report.restored == 1 && report.isComplete)
            #expect(try await objects() == ["f", "g"])
            #expect(try fixture.tree("a").keys.sorted() == ["g"])
        }

        @Test func `an empty directory is copied to another place, too`() async throws {
            try fixture.makeDirectory("a/d/empty")
            try await push()
            var outside = request("d", .latest)
            outside.outside = fixture.directory("out")
            let report = try await engine()
                .restoreObjects(
                    outside,
                    from: .bucket,
                    names: .skip,
                    fetch: { _, _, _ in },
                    onFile: { _ in }
                ).report
            #expect(report.restored == 1)
            #expect(fixture.exists("out/empty"))
        }

        @Test func `files are restored to other places only`() async throws {
            try await push()
            try fixture.remove("a/f")
            try await push()
            await #expect(throws: TransferError.self) {
                try await trash().restore(request("f", .latest)) { _ in }
            }
            let before = fixture.operations.count
            await #expect(throws: TransferError.self) {
                try await engine()
                    .restoreObjects(
                        request("f", .latest),
                        from: .trash,
                        names: .skip
                    ) { _ in }
            }
            #expect(!fixture.operations[before...].contains("CopyObject"))
            var outside = request("f", .latest)
            outside.outside = fixture.directory("out")
            let copied = try await trash().restore(outside) { _ in }
            #expect(copied.missing == ["f"])
            #expect(try fixture.tree("a").keys.sorted() == ["g"])
        }

        @Test func `cutting is refused, because runs of shards need a marker`() async throws {
            try await push()
            var options = CutOptions()
            options.bounds = [[UInt8]("g".utf8)]
            let cut = options
            let error = await #expect(throws: TransferError.self) {
                try await engine().cut(cut) { _ in }
            }
            #expect(error?.code == .refused)
            // As before.
            try fixture.write("a/h", MirrorFixture.ramp(10))
            try await push()
            #expect(try await objects() == ["f", "g", "h"])
        }
    }
}
