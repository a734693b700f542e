import Foundation
import ObjectStorage
import SyncModel
import Synchronization
import Testing

@testable import SyncEngine

extension EngineRuns {
    /// A run, the dry run before it, `status` and `explain` make the same of each item.
    @Suite("Run, dry run, status and explain agree")
    struct FourViewsTests {
        private static let recorded = [
            "edited", "edited-there", "edited-both", "edited-alike", "gone", "gone-there",
            "gone-edited-there", "edited-gone-there", "gone-both", "touched", "mode", "in-the-way",
            "damaged/1", "damaged/2", "damaged/3", "damaged/4", "damaged/5", "excluded-gone.x",
            "link-now", "renamed", "renamed-there", "tagged/f", "private/kept", "private/f",
            "empty-again/f", "directory-now", "beneath-private/in/f",
        ]

        private static func content(_ name: String) -> Data {
            MirrorFixture.ramp(1_000 + name.utf8.reduce(0) { $0 + Int($1) }, name.utf8.count)
        }

        private static func options(deletes: Bool) -> RunOptions {
            MirrorFixture.options { options in
                (options.deletesKnown, options.deletionLimit) = (deletes, .percent(100))
                try? options.filter.exclude("*.x")
                options.filter.tags.names = [".nobackup"]
            }
        }

        private static func world(deletes: Bool) async throws -> MirrorFixture {
            let fixture = try MirrorFixture()
            for name in recorded {
                try fixture.write("a/" + name, content(name))
                try fixture.setModified("a/" + name, Date(timeIntervalSince1970: 1_600_000_000))
            }
            for index in 0..<60 { try fixture.write("a/same/\(index)", content("\(index)")) }
            for name in ["empty", "empty-gone", "mode-of", "same-mode"] {
                try fixture.makeDirectory("a/" + name)
            }
            for name in ["private", "beneath-private", "same-mode"] {
                try fixture.setMode("a/" + name, 0o700)
            }
            try await fixture.run("a", .push)
            try await fixture.run("a", .push)
            for index in 1...5 { try await fixture.damage("damaged/\(index)") }
            _ = try await fixture.engine("a").verify(VerifyOptions()) { _ in }
            try changeHere(fixture)
            try await changeThere(fixture, archives: !deletes)
            return fixture
        }

        private static func changeHere(_ fixture: MirrorFixture) throws {
            for name in ["new", "edited", "edited-both", "edited-gone-there", "both-new"] {
                try fixture.write("a/" + name, content("here " + name))
            }
            for name in ["edited-alike", "both-new-alike"] {
                try fixture.write("a/" + name, content("alike" + name))
            }
            for name in [
                "gone", "gone-edited-there", "gone-both", "in-the-way", "excluded-gone.x",
                "link-now", "private", "empty-gone", "empty-again/f", "directory-now",
                "beneath-private",
            ] { try fixture.remove("a/" + name) }
            try fixture.setModified("a/touched", Date(timeIntervalSince1970: 1_650_000_000))
            try fixture.setMode("a/mode", 0o600)
            try fixture.setMode("a/mode-of", 0o700)
            try fixture.write("a/in-the-way/f", content("f"))
            try fixture.makeDirectory("a/directory-now")
            // Of the damaged files one stays, and the others are renamed, gone, edited and touched.
            try fixture.rename("a/damaged/2", to: "a/damaged/renamed")
            try fixture.remove("a/damaged/3")
            try fixture.write("a/damaged/4", content("edited"))
            try fixture.setModified("a/damaged/5", Date(timeIntervalSince1970: 1_650_000_000))
            try fixture.copy("a/damaged/1", "a/damaged/copy")
            try fixture.write("a/excluded.x", content("x"))
            try fixture.link("a/link-now", to: "new")
            try fixture.link("a/link", to: "new")
            try fixture.rename("a/renamed", to: "a/renamed-to")
            try fixture.write("a/tagged/.nobackup", Data())
            try fixture.makeDirectory("a/empty-new")
            try fixture.write("a/.osssync-work", Data([1]))
            try fixture.write("a/blocks", content("blocks"))
        }

        private static func changeThere(_ fixture: MirrorFixture, archives: Bool) async throws {
            for name in ["new-there", "edited-there", "edited-both", "gone-edited-there"] {
                try await fixture.put(name, content("there " + name))
            }
            for name in ["edited-alike", "both-new-alike"] {
                try await fixture.put(name, content("alike" + name))
            }
            try await fixture.put("both-new", content("there both-new"))
            for name in ["gone-there", "edited-gone-there", "gone-both", "renamed-there"] {
                try await fixture.deleteObject(name)
            }
            try await fixture.put("renamed-there-to", content("renamed-there"))
            try await fixture.put("excluded-there.x", content("x"))
            try await fixture.put("empty-there/", Data())
            try await fixture.put("with-content/", Data([1, 2]))
            try await fixture.put("file-and/directory", content("1"))
            try await fixture.put("file-and", content("2"))
            try await fixture.put("blocks/beneath", content("3"))
            try await fixture.put(".osssync-work/reserved", content("4"))
            try await fixture.put(String(repeating: "n", count: 300), content("5"))
            try await fixture.put("a//b", content("6"))
            try await fixture.put("private/of-others", content("7"))
            guard archives else { return }
            let archive = StorageClass(name: "Archive")
            try await fixture.put("archived", content("8"), storageClass: archive)
        }

        /// What is done with each key, as the events of a run or dry run have it.
        ///
        /// A file that becomes a new key is deleted where it was: a run says that with the new key.
        private static func actions(
            _ log: EventLog,
            without renamed: Set<String> = []
        ) -> [String: Set<String>] {
            var found: [String: Set<String>] = [:]
            for item in log.items where !renamed.contains(item.key) {
                switch item.state {
                case .planned, .done, .skipped:
                    found[item.key, default: []].insert(item.action.rawValue)
                case .failed: found[item.key, default: []].insert("failed")
                case .started, .resumed: break
                }
            }
            return found
        }

        /// True if the plan, which reads no file, says of an item what a run did.
        private static func fits(_ planned: String?, _ done: Set<String>) -> Bool {
            switch planned {
            case nil: done.isEmpty
            // It must be read, or the object be asked.
            case "adopt": true
            case "mode": done.isEmpty || done == ["mode"]
            case "upload": done == ["upload"] || done == ["copy-remote"]
            case "download": done == ["download"] || done == ["copy-local"]
            // The other side's version, or a copy of this one, may follow.
            case "conflict": done.contains("conflict")
            case .some(let action): done == [action]
            }
        }

        /// Names that lead to no file, which `explain` does not take.
        private static func isPath(_ key: String) -> Bool {
            !key.hasPrefix(".osssync") && key != "a//b" && key.utf8.count < 256
        }

        @Test(arguments: SyncDirection.allCases, [true, false])
        func `about each item`(_ direction: SyncDirection, deletes: Bool) async throws {
            let fixture = try await Self.world(deletes: deletes)
            let options = Self.options(deletes: deletes)
            let engine = try fixture.engine("a")
            let steps = Mutex<[String: String]>([:])
            _ = try await engine.status(options: options) { detail in
                guard case .item(let step) = detail, step.direction == direction else { return }
                steps.withLock { $0[step.key] = step.action.rawValue }
            }
            let status = steps.withLock(\.self)
            let (said, did) = (EventLog(), EventLog())
            var look = options
            look.isDryRun = true
            _ = try await engine.run(direction, options: look, onEvent: said.add)
            var explained: [String: String] = [:]
            let places = Set(status.keys).union(Self.actions(said).keys).filter(Self.isPath)
            for key in places {
                let found = try await engine.explain(path: key, of: [direction: options])
                explained[key] = found.outlooks[direction]?.action?.rawValue
            }
            _ = try await engine.run(direction, options: options, onEvent: did.add)
            let start = "renamed from '"
            let renamed = Set(
                did.items.compactMap { item in
                    item.message.flatMap { text in
                        text.hasPrefix(start) ? String(text.dropFirst(start.count).dropLast()) : nil
                    }
                }
            )
            let dry = Self.actions(said, without: renamed)
            let run = Self.actions(did, without: renamed)
            for key in Set(status.keys).union(dry.keys).union(run.keys).sorted() {
                let done = run[key] ?? []
                #expect(dry[key] ?? [] == done, "a dry run of \(key)")
                if Self.isPath(key), key != "link" {
                    #expect(explained[key] == status[key], "status and explain of \(key)")
                }
                // Links and reserved names are in the warnings of `status`.
                let isNever = did.items.contains { $0.key == key && $0.isNeverMirrored }
                if renamed.contains(key) || isNever && status[key] == nil { continue }
                #expect(Self.fits(status[key], done), "\(status[key] ?? "-") \(key), not \(done)")
            }
        }

        /// What `status` says of each item, and a dry run, which may add how to silence it.
        private static func reasons(
            _ fixture: MirrorFixture,
            _ direction: SyncDirection,
            _ options: RunOptions
        ) async throws -> [String: (status: String, said: String)] {
            let engine = try fixture.engine("a")
            let steps = Mutex<[String: PlannedStep]>([:])
            _ = try await engine.status(options: options) { detail in
                guard case .item(let step) = detail, step.direction == direction else { return }
                steps.withLock { $0[step.key] = step }
            }
            let log = EventLog()
            var look = options
            look.isDryRun = true
            _ = try await engine.run(direction, options: look, onEvent: log.add)
            var found: [String: (String, String)] = [:]
            for (key, step) in steps.withLock(\.self) where ![.adopt, .mode].contains(step.action) {
                // A link that is in the way of a file is said twice.
                let item = log.items.first {
                    $0.key == key && $0.action == step.action && !$0.isNeverMirrored
                }
                guard let said = item?.message else { continue }
                found[key] = (step.reason, said)
            }
            return found
        }

        @Test(arguments: SyncDirection.allCases, [true, false])
        func `and why`(_ direction: SyncDirection, deletes: Bool) async throws {
            let fixture = try await Self.world(deletes: deletes)
            let options = Self.options(deletes: deletes)
            let reasons = try await Self.reasons(fixture, direction, options)
            #expect(reasons.count > 10)
            for (key, reason) in reasons {
                // A run, and a dry run at its end, know what becomes of an old name.
                let isRename = reason.said.hasPrefix("renamed to '")
                #expect(isRename || reason.said.hasPrefix(reason.status), "\(key): \(reason)")
            }
        }

        @Test func `and of an ignore file that both sides changed`() async throws {
            let fixture = try MirrorFixture()
            try fixture.write("a/.osssyncignore", Data("*.x\n".utf8))
            try await fixture.run("a", .push)
            try fixture.write("a/.osssyncignore", Data("*.yyy\n".utf8))
            try await fixture.put(".osssyncignore", Data("*.zz\n".utf8))
            let options = MirrorFixture.options { $0.conflictPolicy = .keepBoth }
            let reason = try await Self.reasons(fixture, .sync, options)[".osssyncignore"]
            #expect(reason?.status.contains("the rules of this machine stay in effect") == true)
            #expect(reason?.said == reason?.status)
        }

        @Test func `and of objects that are not encrypted, in a mirror that is`() async throws {
            let fixture = try MirrorFixture()
            let password = try EncryptionPassword([UInt8]("a password\n".utf8), source: "test")
            let cipher = try ContentCipher(password)
            let engine = try fixture.engine("a") { SealedStore($0, cipher) }
            let names = ["new", "recorded"]
            try fixture.write("a/recorded", Data([1]))
            _ = try await engine.run(.push, options: MirrorFixture.options()) { _ in }
            // No encrypted object is so short.
            for name in names { try await fixture.put(name, Data(count: 26)) }
            let steps = Mutex<[String: PlannedStep]>([:])
            _ = try await engine.status(options: MirrorFixture.options()) { detail in
                guard case .item(let step) = detail, step.direction == .pull else { return }
                steps.withLock { $0[step.key] = step }
            }
            for name in names {
                let explained = try await engine.explain(path: name, of: [:])
                let outlook = try #require(explained.outlooks[.pull])
                let step = try #require(steps.withLock { $0[name] })
                #expect((outlook.action, explained.remote?.size) == (.skip, 26))
                #expect((outlook.action, outlook.reason) == (step.action, step.reason))
            }
        }
    }
}
