import Foundation
import SyncModel
import SyncPlanner
import Testing

@testable import SyncEngine

@Suite("Bounds of size and age")
struct FileBoundsTests {
    private static let now = Timestamp(seconds: 1_000_000)

    /// An item with sides of these sizes and ages in seconds.
    private func entry(
        local: (size: Int64, age: Int64)? = nil,
        remote: (size: Int64, age: Int64)? = nil,
        key: ObjectKey = "f"
    ) -> JoinedEntry {
        let file = local.map { size, age in
            let time = Timestamp(seconds: Self.now.seconds - age)
            return FileIdentity(size: size, modified: time, changed: time, inode: 1, device: 1)
        }
        return JoinedEntry(
            key: key,
            base: nil,
            local: file.map { LocalEntry(path: key, kind: .file($0)) },
            remote: remote.map { size, age in
                RemoteObject(
                    key: key,
                    size: size,
                    etag: ETag(wire: "e"),
                    lastModified: Timestamp(seconds: Self.now.seconds - age)
                )
            }
        )
    }

    private func excludes(
        _ entry: JoinedEntry,
        _ change: (inout FileBounds) -> Void
    ) -> Bool {
        var bounds = FileBounds()
        change(&bounds)
        return bounds.exclusion(of: entry, at: Self.now) != nil
    }

    @Test func `the bounds themselves are within`() {
        for (size, isOutside) in [(9, true), (10, false), (20, false), (21, true)] {
            let found = excludes(entry(local: (Int64(size), 0))) { bounds in
                (bounds.minimumSize, bounds.maximumSize) = (10, 20)
            }
            #expect(found == isOutside, "\(size)")
        }
        for (age, isOutside) in [(59, true), (60, false), (120, false), (121, true)] {
            let found = excludes(entry(remote: (0, Int64(age)))) { bounds in
                (bounds.minimumAge, bounds.maximumAge) = (.seconds(60), .seconds(120))
            }
            #expect(found == isOutside, "\(age)")
        }
    }

    @Test func `one side outside the bounds is enough`() {
        let big = entry(local: (5, 0), remote: (500, 0))
        #expect(excludes(big) { $0.maximumSize = 100 })
        let old = entry(local: (5, 900), remote: (5, 1))
        #expect(excludes(old) { $0.maximumAge = .seconds(100) })
        #expect(!excludes(old) { $0.maximumSize = 100 })
    }

    @Test func `directories, and times that no listing had, are within`() {
        #expect(!excludes(entry(remote: (0, 0), key: "d/")) { $0.minimumSize = 1 })
        let timeless = JoinedEntry(
            key: "f",
            base: nil,
            local: nil,
            remote: RemoteObject(key: "f", size: 1, etag: ETag(wire: "e"))
        )
        #expect(!excludes(timeless) { $0.maximumAge = .seconds(1) })
        #expect(!excludes(entry(local: (1, 0))) { _ in })
    }
}

extension EngineRuns {
    @Suite("Runs within bounds")
    struct BoundedRunTests {
        @Test func `what is outside is neither transferred nor deleted on either side`()
            async throws
        {
            let fixture = try MirrorFixture()
            for (name, size) in [("small", 10), ("gone", 20), ("big", 500), ("lost", 600)] {
                try fixture.write("a/\(name)", MirrorFixture.ramp(size))
            }
            try await fixture.run("a", .push)
            try fixture.remove("a/gone")
            try fixture.remove("a/lost")
            try fixture.write("a/huge", MirrorFixture.ramp(700))
            try fixture.write("a/grown", MirrorFixture.ramp(30))
            let bounded = try await fixture.run("a", .push) { options in
                (options.deletesKnown, options.deletesExcluded) = (true, true)
                try? options.filter.exclude("lost")
                options.filter.bounds.maximumSize = 100
            }
            #expect(bounded.excluded == 3)
            #expect(bounded.isComplete)
            #expect(try await fixture.objects() == ["big", "grown", "lost", "small"])
            // A file that grows beyond the bounds keeps its object.
            try fixture.write("a/grown", MirrorFixture.ramp(300))
            let grown = try await fixture.run("a", .push) { options in
                options.deletesKnown = true
                options.filter.bounds.maximumSize = 100
            }
            #expect(grown.transferred == 0)
            #expect(try await fixture.object("grown") == MirrorFixture.ramp(30))
            let all = try await fixture.run("a", .push) { $0.deletesKnown = true }
            #expect(all.transferred == 2)
            // What vanished while it was outside is unknown.
            #expect(try await fixture.objects() == ["big", "grown", "huge", "lost", "small"])
        }

        @Test func `a pull leaves both sides of what is outside as they are`() async throws {
            let fixture = try MirrorFixture()
            for (name, size) in [("one", 10), ("two", 500)] {
                try fixture.write("a/\(name)", MirrorFixture.ramp(size))
            }
            try await fixture.run("a", .push)
            try await fixture.run("b", .pull)
            try await fixture.deleteObject("two")
            try await fixture.put("three", MirrorFixture.ramp(5))
            let summary = try await fixture.run("b", .pull) { options in
                options.deletesKnown = true
                options.filter.bounds.minimumSize = 8
                options.filter.bounds.maximumSize = 100
            }
            #expect(summary.deleted == 0 && summary.transferred == 0)
            #expect(summary.excluded == 2)
            let status = try await fixture.engine("b").status(
                options: MirrorFixture.options { $0.filter.bounds.minimumSize = 8 }
            )
            #expect(status.differences.excluded == 1)
            // What vanished while it was outside is unknown.
            #expect(status.differences.deletedThere == 0 && status.differences.onlyLocal == 1)
        }
    }
}
