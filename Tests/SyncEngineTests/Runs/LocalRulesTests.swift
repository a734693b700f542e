import Foundation
import SyncModel
import Synchronization
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    @Suite("Rules of this machine")
    struct LocalRulesTests {
        private static let path = "a/.osssync/ignore"

        /// A mirror with files of these names, of which nothing was sent yet.
        private func fixture(_ names: String...) throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for name in names { try fixture.write("a/\(name)", MirrorFixture.ramp(10)) }
            return fixture
        }

        private func write(_ fixture: MirrorFixture, _ text: String, age: Double = 10) throws {
            try fixture.makeDirectory("a/.osssync")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o700],
                ofItemAtPath: fixture.directory("a") + "/.osssync"
            )
            try fixture.write(Self.path, Data(text.utf8))
            try fixture.setModified(Self.path, Date().addingTimeInterval(-age))
        }

        @Test func `come after the shared ones and before the options, and stay here`()
            async throws
        {
            let fixture = try fixture("one.tmp", "two.tmp", "three.tmp", "four.log")
            try fixture.write("a/.osssyncignore", Data("*.tmp\n".utf8))
            try write(fixture, "!two.tmp\n!three.tmp\n*.log\n")
            try await fixture.run("a", .push) { try? $0.filter.exclude("three.tmp") }
            #expect(try await fixture.objects() == [".osssyncignore", "two.tmp"])
        }

        /// Another machine of that mirror may write anything.
        @Test(arguments: [false, true])
        func `that a mirror around this one has downloaded are those of the bucket`(
            isDeleted: Bool
        ) async throws {
            let fixture = try fixture("in/f", "in/my.key")
            try fixture.write("a/in/.osssyncignore", Data("*.key\n".utf8))
            let inner = try fixture.engine("a/in", state: nil, prefix: "in/")
            func push() async throws -> RunSummary {
                try await inner.run(.push, options: MirrorFixture.options()) { _ in }
            }
            #expect(try await push().transferred == 2)
            try await fixture.run("a", .push) { try? $0.filter.exclude("my.key") }
            if isDeleted {
                try await fixture.deleteObject("in/.osssyncignore")
            } else {
                try await fixture.put("in/.osssyncignore", Data("# none\n".utf8))
            }
            let pull = try await fixture.run("a", .pull) { $0.deletesKnown = true }
            #expect(pull.transferred + pull.deleted == 1, "\(pull)")
            let run = try await push()
            #expect(run.skipped == 1 && run.transferred == (isDeleted ? 0 : 1), "\(run)")
        }

        @Test func `of a mirror within stay when a mirror around it frees the directory`()
            async throws
        {
            let fixture = try fixture("in/f")
            try fixture.write("a/in/.osssyncignore", Data("*.key\n".utf8))
            let inner = try fixture.engine("a/in", state: nil, prefix: "in/")
            _ = try await inner.run(.push, options: MirrorFixture.options()) { _ in }
            try await fixture.run("a", .push)
            #expect(try await fixture.free(["in"]).report.files == 1)
            #expect(!fixture.exists("a/in/f") && fixture.exists("a/in/.osssyncignore"))
        }

        @Test func `an unusable file ends the run before anything is sent`() async throws {
            let fixture = try fixture("f")
            try write(fixture, "good\n[bad\n")
            let unclosed = await #expect(throws: TransferError.self) {
                try await fixture.run("a", .push)
            }
            #expect(unclosed?.code == .configuration)
            #expect(
                unclosed?.message.contains("/.osssync/ignore' cannot be used: line 2: ") == true
            )
            try fixture.remove(Self.path)
            try fixture.makeDirectory(Self.path)
            let directory = await #expect(throws: TransferError.self) {
                try await fixture.run("a", .push)
            }
            #expect(directory?.code == .configuration)
            #expect(try await fixture.objects() == [])
        }

        /// An engine for which a second passes at once, and `change` happens meanwhile.
        private func engine(
            _ fixture: MirrorFixture,
            _ change: @escaping @Sendable (_ pause: Int) throws -> Void
        ) throws -> MirrorEngine {
            var engine = try fixture.engine("a")
            let real = engine.settings.environment
            let pauses = Mutex(0)
            engine.settings.environment = EngineEnvironment(
                now: real.now,
                monotonic: real.monotonic,
                sleep: { duration in
                    guard duration == .seconds(1) else { return try await real.sleep(duration) }
                    try change(
                        pauses.withLock { count in
                            count += 1
                            return count
                        }
                    )
                    if pauses.withLock({ $0 }) > 20 { try await real.sleep(duration) }
                },
                randomUnit: real.randomUnit,
                hostName: real.hostName
            )
            return engine
        }

        @Test func `a file that is being saved is read again`() async throws {
            let fixture = try fixture("secret", "f")
            // Emptied a moment ago, and written while the run waits.
            try write(fixture, "", age: 0)
            let engine = try engine(fixture) { pause in
                if pause == 1 { try fixture.write(Self.path, Data("secret\n".utf8)) }
            }
            _ = try await engine.run(
                .push,
                options: MirrorFixture.options(),
                onEvent: { _ in }
            )
            #expect(try await fixture.objects() == ["f"])
        }

        @Test func `a file whose name is gone is looked for again`() async throws {
            let fixture = try fixture("secret", "f")
            try write(fixture, "secret\n")
            try await fixture.run("a", .push)
            try fixture.remove(Self.path)
            let engine = try engine(fixture) { pause in
                if pause == 1 { try fixture.write(Self.path, Data("secret\n".utf8)) }
            }
            _ = try await engine.run(.push, options: MirrorFixture.options(), onEvent: { _ in })
            #expect(try await fixture.objects() == ["f"])
            // One that stays away is gone on purpose.
            try fixture.remove(Self.path)
            try await fixture.run("a", .push)
            #expect(try await fixture.objects() == ["f", "secret"])
        }

        @Test func `runs that only receive wait once for a file of the bucket that is gone`()
            async throws
        {
            let fixture = try MirrorFixture()
            let (name, rules) = (".osssyncignore", Data("secret*\n".utf8))
            try fixture.write("a/" + name, rules)
            try fixture.write("a/f", Data("1".utf8))
            try await fixture.run("a", .push)
            try fixture.remove("a/" + name)
            try await fixture.deleteObject(name)
            try await fixture.put("secret", Data("2".utf8))
            /// A pull that sees the file come back if it waits before it begins.
            func pull() async throws {
                let engine = try engine(fixture) { pause in
                    if pause == 1 { try fixture.write("a/" + name, rules) }
                }
                _ = try await engine.run(.pull, options: MirrorFixture.options()) { _ in }
                if fixture.content("a/" + name) != nil { try fixture.remove("a/" + name) }
            }
            try await pull()
            #expect(fixture.content("a/secret") == nil)
            try await fixture.run("a", .pull)
            #expect(fixture.content("a/secret") != nil)
            try await fixture.put("secret2", Data("2".utf8))
            try await pull()
            #expect(fixture.content("a/secret2") != nil)
            // One that a run has seen since may be away for a moment again.
            try fixture.write("a/" + name, rules)
            try await fixture.run("a", .pull)
            try fixture.remove("a/" + name)
            try await fixture.put("secret3", Data("2".utf8))
            try await pull()
            #expect(fixture.content("a/secret3") == nil)
        }

        @Test func `a file that keeps changing sends nothing`() async throws {
            let fixture = try fixture("f")
            try write(fixture, "a\n", age: 0)
            let engine = try engine(fixture) { pause in
                guard pause <= 20 else { return }
                try fixture.write(Self.path, Data(String(repeating: "a", count: pause).utf8))
            }
            let error = await #expect(throws: TransferError.self) {
                try await engine.run(.push, options: MirrorFixture.options(), onEvent: { _ in })
            }
            #expect(error?.code == .refused)
            #expect(try await fixture.objects() == [])
        }
    }
}
