import Foundation
import ObjectTransfer
import SyncModel
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// A file of `--exclude-from` that is mirrored itself: others may change it.
    @Suite("Patterns in a file of the mirror")
    struct FilterRecordTests {
        private let fixture: MirrorFixture

        init() async throws {
            fixture = try MirrorFixture()
            try fixture.write("a/rules", Data("*.key\n".utf8))
            try fixture.write("a/my.key", Data("secret".utf8))
            try await run(.push)
            #expect(try await fixture.objects() == ["rules"])
        }

        @discardableResult
        private func run(
            _ direction: SyncDirection,
            _ change: (inout RunOptions) -> Void = { _ in }
        ) async throws -> RunSummary {
            let path = fixture.directory("a/rules")
            let content = [UInt8](try #require(fixture.content("a/rules")))
            return try await fixture.run("a", direction) { options in
                try? options.filter.add(ignoreFile: content, named: "rules")
                options.filter.files.append(PatternFile(path: path, content: content))
                change(&options)
            }
        }

        private func refusal(_ direction: SyncDirection, isDryRun: Bool = false) async -> String? {
            do {
                try await run(direction) { $0.isDryRun = isDryRun }
                return nil
            } catch {
                return (error as? TransferError).map { "\($0.code): \($0.message)" }
            }
        }

        /// The bucket's version comes.
        private func pullOther() async throws {
            try await fixture.put("rules", Data("#\n".utf8))
            #expect(try await run(.pull).transferred == 1)
            #expect(try await run(.pull).transferred == 0)
        }

        @Test(arguments: [SyncDirection.push, .sync])
        func `is not obeyed as the bucket has changed it`(direction: SyncDirection) async throws {
            try await pullOther()
            for isDryRun in [true, false] {
                let found = await refusal(direction, isDryRun: isDryRun)
                #expect(found?.contains("changed in the bucket") == true, "\(found ?? "sent")")
            }
            #expect(try await fixture.objects() == ["rules"])
            // The user has looked at it.
            try fixture.setModified("a/rules", Date())
            #expect(await refusal(direction) == nil)
            #expect(try await fixture.objects() == ["my.key", "rules"])
            #expect(await refusal(direction) == nil)
        }

        @Test func `is not obeyed as the disk has changed it`() async throws {
            try await fixture.damage("rules")
            let found = await refusal(.push)
            #expect(found?.contains("damaged by the disk") == true, "\(found ?? "sent")")
            #expect(try await fixture.objects() == ["rules"])
        }

        @Test func `is obeyed as the user has changed it, and as it first came`() async throws {
            try fixture.write("a/rules", Data("*.other\n".utf8))
            #expect(await refusal(.push) == nil)
            #expect(try await fixture.objects() == ["my.key", "rules"])
            try await fixture.run("b", .pull)
            let content = [UInt8](try #require(fixture.content("b/rules")))
            let path = fixture.directory("b/rules")
            let run = try await fixture.run("b", .push) { options in
                options.filter.files.append(PatternFile(path: path, content: content))
            }
            #expect(run.isInStep, "\(run)")
        }
    }
}
