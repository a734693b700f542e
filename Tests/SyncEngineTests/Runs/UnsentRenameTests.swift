import Foundation
import LocalStorage
import ManifestStore
import ObjectStorage
import SyncModel
import Testing

@testable import SyncEngine

/// A file that was renamed, and is not sent under its new name: its old object may be its only copy
/// in the bucket.
@Suite("Renamed files that are not sent")
struct UnsentRenameTests {
    let fixture: MirrorFixture
    private let content = MirrorFixture.ramp(900_000)

    init() async throws {
        fixture = try MirrorFixture()
        try fixture.write("a/old", content)
        for name in ["gone", "other"] { try fixture.write("a/" + name, Data(name.utf8)) }
        try await fixture.run("a", .push)
        try fixture.remove("a/gone")
    }

    /// What is gone is deleted, and the object of the file is there.
    private func keepsOnlyOld(
        _ direction: SyncDirection,
        isCounted: Bool = false,
        _ change: (inout RunOptions) -> Void = { _ in }
    ) async throws {
        if isCounted {
            let options = MirrorFixture.options { options in
                options.deletesKnown = true
                change(&options)
            }
            let report = try await fixture.engine("a").status(options: options)
            #expect((report.push.deletions, report.sync.deletions) == (1, 1), "\(report)")
        }
        for isDryRun in [true, false] {
            let run = try await fixture.run("a", direction) { options in
                options.deletesKnown = true
                change(&options)
                options.isDryRun = isDryRun
            }
            #expect(run.deleted == 1 && run.deletionsHeldBack?.contains("may be") == true, "\(run)")
        }
        #expect(try await fixture.object("old") == content)
        #expect(try await !fixture.objects().contains("gone"))
    }

    @Test(arguments: [SyncDirection.push, .sync])
    func `keep their objects if the new name is in conflict`(
        _ direction: SyncDirection
    ) async throws {
        try fixture.rename("a/old", to: "a/new")
        try await fixture.put("new", Data("of another writer".utf8))
        try await keepsOnlyOld(direction) { $0.conflictPolicy = .skip }
        #expect(try await fixture.object("new") == Data("of another writer".utf8))
    }

    @Test func `keep their objects if they are kept beside a version of the new name`()
        async throws
    {
        try fixture.remove("a/other")
        try fixture.rename("a/old", to: "a/other")
        try await fixture.put("other", Data("of another writer".utf8))
        try await keepsOnlyOld(.sync)
        #expect(fixture.content("a/other") == Data("of another writer".utf8))
        let next = try await fixture.run("a", .sync) { $0.deletesKnown = true }
        #expect(next.deleted == 0 && next.isInStep)
        #expect(try await fixture.objects().count == 2)
    }

    @Test(arguments: [SyncDirection.push, .sync])
    func `keep their objects if the new name cannot be a key`(
        _ direction: SyncDirection
    ) async throws {
        // In Foundation no name can be written that is no UTF-8.
        let (old, new) = (fixture.directory("a/old"), [UInt8](fixture.directory("a/new").utf8))
        let result = unsafe rename(old, (new + [0xFF, 0]).map { CChar(bitPattern: $0) })
        #expect(result == 0)
        try await keepsOnlyOld(direction)
    }

    @Test(arguments: [SyncDirection.push, .sync], [true, false])
    func `keep their objects if their directory gets a name that cannot be a key`(
        _ direction: SyncDirection,
        isCopied: Bool
    ) async throws {
        let old = Date(timeIntervalSince1970: 1_000_000_000.25)
        for name in ["d/one", "d/deep/two"] {
            try fixture.write("a/" + name, Data(name.utf8))
            try fixture.setModified("a/" + name, old)
        }
        try await fixture.run("a", .push)
        let directory = fixture.directory("a/d")
        let new = [UInt8](fixture.directory("a/new").utf8)
        let name = (new + [0xFF, 0]).map { CChar(bitPattern: $0) }
        if isCopied {
            // As a move from another disk, with other inodes.
            let source = fixture.directory("a/e")
            try FileManager.default.moveItem(atPath: directory, toPath: source)
            try FileManager.default.copyItem(atPath: source, toPath: directory)
            for name in ["one", "deep/two"] { try fixture.setModified("a/d/" + name, old) }
            try FileManager.default.removeItem(atPath: source)
        }
        let result = unsafe rename(directory, name)
        #expect(result == 0)
        try await keepsOnlyOld(direction, isCounted: true)
        #expect(try await fixture.object("d/deep/two") == Data("d/deep/two".utf8))
        #expect(try await fixture.object("d/one") == Data("d/one".utf8))
    }

    /// More names than those that can be skipped before all deletions are held back.
    @Test func `keep their objects, however many they are, and no others`() async throws {
        for number in 0..<1_010 { try fixture.write("a/d/\(number)", Data("\(number)".utf8)) }
        try await fixture.run("a", .push)
        let name = [UInt8](fixture.directory("a/new").utf8)
        let result = unsafe rename(
            fixture.directory("a/d"),
            (name + [0xFF, 0]).map { CChar(bitPattern: $0) }
        )
        #expect(result == 0)
        let run = try await fixture.run("a", .push) { $0.deletesKnown = true }
        #expect(run.deleted == 1 && run.deletionsHeldBack != nil, "\(run)")
        #expect(try await fixture.object("d/1009") == Data("1009".utf8))
    }

    @Test func `keep their objects if they are links and the new name cannot be a key`()
        async throws
    {
        try fixture.link("a/link", to: "other")
        try await fixture.run("a", .push) { $0.links = .store }
        let old = fixture.directory("a/link")
        let new = [UInt8](fixture.directory("a/new").utf8) + [0xFF, 0]
        let result = unsafe rename(old, new.map { CChar(bitPattern: $0) })
        #expect(result == 0)
        for _ in 0..<2 {
            let run = try await fixture.run("a", .push) {
                ($0.deletesKnown, $0.links) = (true, .store)
            }
            #expect(run.deletionsHeldBack != nil, "\(run)")
            #expect(try await fixture.objects().contains("link.rclonelink"))
        }
    }

    @Test func `keep their objects if the new name is that of a stored link`() async throws {
        try fixture.rename("a/old", to: "a/new.rclonelink")
        try await keepsOnlyOld(.push) { $0.links = .store }
    }

    /// Changes "new" before each request for it; it is sent once it is at rest.
    ///
    /// `other` is what another writer put there: of the same size, it is to be compared first.
    @Test(arguments: [nil, MirrorFixture.ramp(900_000, 7)])
    func `keep their objects while they change`(_ other: Data?) async throws {
        try fixture.rename("a/old", to: "a/new")
        if let other { try await fixture.put("new", other) }
        let path = fixture.directory("a/new")
        let engine = try fixture.engine("a") { store in
            HookedStore(store) { call throws(StorageError) in
                guard call.key.hasSuffix("new"), call.moment == .before else { return }
                let file = FileHandle(forUpdatingAtPath: path)
                try? file?.write(contentsOf: Data([UInt8(call.number & 0xFF)]))
                try? file?.close()
            }
        }
        let options = MirrorFixture.options { $0.deletesKnown = true }
        let run = try await engine.run(.push, options: options) { _ in }
        #expect((run.skipped, run.deleted) == (1, 1), "\(run)")
        #expect(try await fixture.object("old") == content)
        let next = try await fixture.run("a", .push) {
            $0.deletesKnown = true
            if other != nil { $0.conflictPolicy = .local }
        }
        #expect(next.deleted == 1 && next.failed == 0 && next.skipped == 0, "\(next)")
        #expect(try await Set(fixture.objects()) == ["new", "other"])
    }

    /// Of a file that was removed, another one has the inode.
    @Test(arguments: [SyncDirection.push, .sync])
    func `keep their objects if an age leaves the new name out`(
        _ direction: SyncDirection
    ) async throws {
        try fixture.rename("a/old", to: "a/new")
        try fixture.setModified("a/new", Date(timeIntervalSince1970: 1_000_000_000))
        try await keepsOnlyOld(direction, isCounted: true) {
            $0.filter.bounds.maximumAge = .seconds(86_400)
        }
        let all = try await fixture.run("a", direction) { $0.deletesKnown = true }
        #expect(all.deletionsHeldBack == nil && all.isInStep, "\(all)")
        #expect(try await fixture.object("new") == content)
        #expect(try await !fixture.objects().contains("old"))
    }

    @Test(arguments: [SyncDirection.push, .sync])
    func `keep their objects if they have grown beyond a size`(
        _ direction: SyncDirection
    ) async throws {
        try fixture.rename("a/old", to: "a/new")
        try fixture.write("a/new", content + content)
        try await keepsOnlyOld(direction, isCounted: true) {
            $0.filter.bounds.maximumSize = 1_000_000
        }
    }

    /// As `mv` does from one disk to another, and programs that keep whole seconds only.
    private func move(_ old: String, to new: String, wholeSeconds: Bool = false) throws {
        let content = try #require(fixture.content(old))
        var modified = try fixture.modified(old)
        if wholeSeconds {
            modified = Date(timeIntervalSince1970: modified.timeIntervalSince1970.rounded(.down))
        }
        try fixture.write(new, content)
        try fixture.setModified(new, modified)
        try fixture.remove(old)
    }

    @Test(arguments: [SyncDirection.push, .sync], [true, false])
    func `keep their objects if they were copied and removed, and an age leaves them out`(
        _ direction: SyncDirection,
        wholeSeconds: Bool
    ) async throws {
        try fixture.setModified("a/old", Date(timeIntervalSince1970: 1_000_000_000.25))
        try await fixture.run("a", .push)
        try move("a/old", to: "a/new", wholeSeconds: wholeSeconds)
        // Of the same size and another time, which says nothing of the other one.
        try fixture.write("a/else", Data("gone".utf8))
        try fixture.setModified("a/else", Date(timeIntervalSince1970: 1_000_000_001))
        try await keepsOnlyOld(direction, isCounted: true) {
            $0.filter.bounds.maximumAge = .seconds(86_400)
        }
        let all = try await fixture.run("a", direction) { $0.deletesKnown = true }
        #expect(all.deletionsHeldBack == nil && all.isInStep, "\(all)")
        #expect(try await fixture.object("new") == content)
        #expect(try await !fixture.objects().contains("old"))
    }

    /// The file whose name it gets keeps its inode, if the copy is written into it.
    @Test(arguments: [SyncDirection.push, .sync], [true, false])
    func `keep their objects if they were copied onto a recorded name`(
        _ direction: SyncDirection,
        isChain: Bool
    ) async throws {
        try fixture.setModified("a/old", Date(timeIntervalSince1970: 1_000_000_000.25))
        try fixture.write("a/new", Data("of today".utf8))
        if isChain {
            try fixture.write("a/last", Data("last".utf8))
            try fixture.setModified("a/last", Date(timeIntervalSince1970: 1_000_000_000.5))
        }
        try await fixture.run("a", .push)
        func copy(_ old: String, onto new: String) throws {
            let file = try #require(FileHandle(forWritingAtPath: fixture.directory(new)))
            try file.truncate(atOffset: 0)
            try file.write(contentsOf: try #require(fixture.content(old)))
            try file.close()
            try fixture.setModified(new, try fixture.modified(old))
        }
        try copy("a/old", onto: "a/other")
        if isChain { try copy("a/last", onto: "a/old") }
        try fixture.remove(isChain ? "a/last" : "a/old")
        try await keepsOnlyOld(direction, isCounted: true) {
            $0.filter.bounds.maximumAge = .seconds(86_400)
        }
        if isChain { #expect(try await fixture.object("last") == Data("last".utf8)) }
        let all = try await fixture.run("a", direction) { $0.deletesKnown = true }
        #expect(all.deletionsHeldBack == nil && all.isInStep, "\(all)")
        #expect(try await fixture.object("other") == content)
    }

    @Test func `hold back no deletion of a file whose inode they got`() async throws {
        try fixture.remove("a/old")
        try fixture.write("a/new", Data("here".utf8))
        try await fixture.put("new", Data("there".utf8))
        var isKnown = false
        try await fixture.inState { session in
            let path = try RelativePath(path: "new")
            guard case .file(let file) = try session.directory.identity(of: path),
                let row = try await session.manifest.entry("old")
            else { throw CocoaError(.fileNoSuchFile) }
            isKnown = try session.directory.birth(of: path) != nil
            try await session.manifest.record([.upsert(row.replacing(inode: file.inode))])
        }
        guard isKnown else { return }
        let run = try await fixture.run("a", .push) {
            ($0.deletesKnown, $0.conflictPolicy) = (true, .skip)
        }
        #expect((run.conflicts, run.deleted) == (1, 2), "\(run)")
    }
}
