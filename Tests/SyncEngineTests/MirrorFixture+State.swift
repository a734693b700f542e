import Foundation
import LocalStorage
import ManifestStore
import SyncModel
import Synchronization
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

/// What happened to a mirror, or its state says, between two runs.
extension MirrorFixture {
    /// Files in two directories, of which some are freed.
    static let films = ["films/a", "films/b", "other/c", "other/d"]

    /// A mirror that was pushed, with ``films``.
    static func withFilms() async throws -> MirrorFixture {
        let fixture = try MirrorFixture()
        for name in films { try fixture.write("a/" + name, ramp(100)) }
        try await fixture.run("a", .push)
        return fixture
    }

    /// The report, and what stays with the reason.
    @discardableResult
    func free(
        _ paths: [String],
        in directory: String = "a",
        _ change: (inout FreeOptions) -> Void = { _ in }
    ) async throws -> (report: FreeReport, kept: [String: String]) {
        var options = FreeOptions(run: Self.options())
        options.run.paths = paths
        change(&options)
        let kept = Mutex<[String: String]>([:])
        let report = try await engine(directory).free(options) { file in
            kept.withLock { $0[file.displayKey] = file.reasonKept }
        }
        return (report, kept.withLock { $0 })
    }

    /// Changes what the state of a mirror says, between two runs.
    func inState(
        of mirror: String = "a",
        _ change: (MirrorSession) async throws -> Void
    ) async throws {
        let session = try await MirrorSession.open(
            try engine(mirror).settings,
            locks: true,
            allowsRebinding: false
        )
        try await change(session)
        try await session.manifest.checkpointAndClose()
    }

    /// Another byte in what the store keeps of an object or a part, as by a disk that fails.
    func damageStored(_ content: Data) throws {
        let root = folder.appendingPathComponent("server")
        let paths = FileManager.default.enumerator(atPath: root.path)
        let urls = paths?.compactMap { ($0 as? String).map(root.appendingPathComponent) }
        let kept = try #require(urls?.first { (try? Data(contentsOf: $0)) == content })
        let file = try FileHandle(forUpdating: kept)
        try file.write(contentsOf: Data([~content[content.startIndex]]))
        try file.close()
    }

    /// Other content in a recorded file of a mirror, under its name, size, times and inode, as a
    /// disk that fails makes it.
    ///
    /// `place` is the path of the file where its name is not the key, `link` the key of a second
    /// name that it has.
    func damage(
        _ key: String,
        of mirror: String = "a",
        at place: String? = nil,
        link: String? = nil
    ) async throws {
        try await change(key, of: mirror, at: place, link: link) { file, size in
            let middle = size / 2
            try file.seek(toOffset: middle)
            let byte = try #require(try file.read(upToCount: 1)?.first)
            try file.seek(toOffset: middle)
            try file.write(contentsOf: Data([~byte]))
        }
    }

    /// The beginning of a recorded file under its times and inode, as `fsck` may leave it.
    func shorten(_ key: String, to size: UInt64) async throws {
        try await change(key) { file, _ in try file.truncate(atOffset: size) }
    }

    private func change(
        _ key: String,
        of mirror: String = "a",
        at place: String? = nil,
        link: String? = nil,
        _ change: (FileHandle, _ size: UInt64) throws -> Void
    ) async throws {
        let place = place ?? mirror + "/" + key
        let path = directory(place)
        let before = try FileManager.default.attributesOfItem(atPath: path)
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try change(file, UInt64(try #require(before[.size] as? Int)))
        try file.close()
        try setModified(place, try #require(before[.modificationDate] as? Date))
        try await inState(of: mirror) { session in
            // No program changes a file behind its ctime, and so the record follows it.
            let path = try RelativePath(path: ObjectKey(String(place.dropFirst(mirror.count + 1))))
            for key in [key] + [link].compactMap(\.self) {
                guard case .file(let found) = try session.directory.identity(of: path),
                    let row = try await session.manifest.entry(ObjectKey(key))
                else { throw CocoaError(.fileNoSuchFile) }
                let damaged = row.replacing(
                    localModified: found.modified,
                    changed: found.recordedChange,
                    isDamaged: row.isDamaged
                )
                try await session.manifest.record([.upsert(damaged)])
            }
        }
    }

    /// As if a disk had been mounted at this path of "a" in the last run.
    func noteMount(_ path: String) async throws {
        try await inState { session in
            try await session.known.record(
                in: session.manifest,
                [[UInt8](path.utf8)],
                of: session.directory,
                leavingOut: { _ in false }
            )
        }
    }
}
