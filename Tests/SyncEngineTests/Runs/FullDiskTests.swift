import Foundation
import LocalStorage
import StorageServer
import SyncModel
import Testing

@testable import ObjectTransfer
@testable import SyncEngine

extension EngineRuns {
    @Suite("A full disk")
    struct FullDiskTests {
        private func ramp(_ count: Int, _ seed: Int = 0) -> Data { MirrorFixture.ramp(count, seed) }

        @Test func `it keeps what is there, and is no doubt of what is to be deleted`()
            async throws
        {
            let fixture = try MirrorFixture()
            for name in ["big", "f", "old"] {
                try await fixture.put(name, ramp(name == "big" ? 6 << 20 : 300_000))
            }
            try await fixture.run("b", .pull)
            try await fixture.put("big", ramp(6 << 20, 1))
            try await fixture.put("f", ramp(300_001))
            try await fixture.deleteObject("old")
            let faults = SystemCallFaults(.failFromHereOn(errno: ENOSPC), at: 1, of: ["fallocate"])
            let calls = SystemCalls(usesOpenat2: true, faults: faults)
            let log = EventLog()
            let pull = try await fixture.engine("b", calls: calls).run(
                .pull,
                options: MirrorFixture.options { $0.deletesKnown = true },
                onEvent: log.add
            )
            #expect(pull.failed == 2)
            #expect(pull.deleted == 1)
            #expect(!pull.isInStep)
            #expect(try fixture.tree("b") == ["big": ramp(6 << 20), "f": ramp(300_000)])
            let message = log.items.last { $0.state == .failed }?.message
            #expect(message?.contains("disk is full") == true, "\(message ?? "")")
            let again = try await fixture.run("b", .pull) { $0.deletesKnown = true }
            #expect(again.isInStep)
            #expect(try fixture.tree("b") == ["big": ramp(6 << 20, 1), "f": ramp(300_001)])
        }

        @Test func `small files are not all fetched for a quota that is used up`() async throws {
            let fixture = try MirrorFixture()
            try await fixture.run("b", .pull)
            for index in 0..<400 { try await fixture.put("f\(index)", ramp(2_000, index)) }
            let faults = SystemCallFaults(
                .failFromHereOn(errno: EDQUOT),
                at: 40,
                of: ["pwrite"]
            )
            let calls = SystemCalls(usesOpenat2: true, faults: faults)
            fixture.server.clearRequestLog()
            let log = EventLog()
            let end = await #expect(throws: TransferError.self) {
                try await fixture.engine("b", calls: calls).run(
                    .pull,
                    options: MirrorFixture.options { $0.connectionLimit = 2 },
                    onEvent: log.add
                )
            }
            let fetched = fixture.operations.count { $0 == "GetObject" }
            #expect(fetched >= 10 && fetched < 200, "\(fetched) \(end?.message ?? "")")
            let pull = try await fixture.run("b", .pull)
            #expect(pull.isInStep && (300..<400).contains(pull.transferred))
        }

        @Test(.enabled("mounting a tmpfs needs root") { SmallDisk.canMount })
        func `what fits is there, and what does not goes on when there is room`() async throws {
            let fixture = try MirrorFixture()
            let disk = try SmallDisk(at: fixture.directory("b"), size: "12m")
            defer { disk.unmount() }
            for index in 0..<4 { try await fixture.put("big\(index)", ramp(3 << 20, index)) }
            for index in 0..<20 { try await fixture.put("f\(index)", ramp(1_000, index)) }
            try fixture.write("b/ballast", Data(count: 5 << 20))
            let pull = try await fixture.run("b", .pull)
            #expect(pull.failed >= 2)
            #expect(pull.failed < 4)
            #expect(!pull.isInStep)
            for (path, content) in try fixture.tree("b") where path.hasPrefix("f") {
                #expect(content.count == 1_000)
            }
            try fixture.remove("b/ballast")
            disk.resize("64m")
            let again = try await fixture.run("b", .pull)
            #expect(again.isInStep, "\(again)")
            for index in 0..<4 {
                #expect(fixture.content("b/big\(index)") == ramp(3 << 20, index))
            }
            #expect(try fixture.tree("b").count == 24)
        }

        @Test(.enabled("mounting a tmpfs needs root") { SmallDisk.canMount })
        func `some of it is freed as long as there are 64 KiB for the manifest and the list`()
            async throws
        {
            let fixture = try MirrorFixture()
            let disk = try SmallDisk(at: fixture.directory("a"), size: "12m")
            defer { disk.unmount() }
            for index in 0..<3 { try fixture.write("a/films/big\(index)", ramp(1 << 20, index)) }
            try await fixture.run("a", .push)
            let attributes = try FileManager.default.attributesOfFileSystem(
                forPath: fixture.directory("a")
            )
            let room = try #require(attributes[.systemFreeSize] as? Int)
            try fixture.write("a/.osssync/ballast", Data(count: room))
            var options = FreeOptions(run: MirrorFixture.options())
            options.run.paths = ["films"]
            let failure = await #expect(throws: TransferError.self) {
                try await fixture.engine("a").free(options) { _ in }
            }
            #expect(failure?.message.contains("free some space") == true)
            #expect(try fixture.tree("a").count == 3)
            try fixture.remove("a/.osssync/ballast")
            try fixture.write("a/.osssync/ballast", Data(count: room - (64 << 10)))
            let report = try await fixture.engine("a").free(options) { _ in }
            #expect(report.files == 3)
            let summary = try await fixture.run("a", .push) { $0.deletesKnown = true }
            #expect(summary.deleted == 0 && summary.isInStep)
        }

        @Test(.enabled("mounting a tmpfs needs root") { SmallDisk.canMount })
        func `a large file that would take the last room leaves it to the manifest`() async throws {
            let fixture = try MirrorFixture()
            let disk = try SmallDisk(at: fixture.directory("b"), size: "12m")
            defer { disk.unmount() }
            try await fixture.run("b", .pull)
            let attributes = try FileManager.default.attributesOfFileSystem(
                forPath: fixture.directory("b")
            )
            let free = try #require(attributes[.systemFreeSize] as? Int)
            try await fixture.put("big", ramp(free - (100 << 10)))
            for index in 0..<60 { try await fixture.put("f\(index)", ramp(100, index)) }
            for _ in 0..<2 {
                let log = EventLog()
                let pull = try await fixture.run("b", .pull, log) { $0.connectionLimit = 1 }
                #expect(pull.failed == 1)
                let message = log.items.last { $0.state == .failed }?.message
                #expect(message?.contains("disk is full") == true, "\(message ?? "")")
                #expect(try fixture.tree("b").count == 60)
            }
        }

        @Test(.enabled("mounting a tmpfs needs root") { SmallDisk.canMount })
        func `a manifest that cannot be read for want of space is not taken as empty`() async throws
        {
            let fixture = try MirrorFixture()
            let disk = try SmallDisk(at: fixture.directory("b"), size: "4m")
            defer { disk.unmount() }
            for index in 0..<10 { try await fixture.put("f\(index)", ramp(100, index)) }
            try await fixture.run("b", .pull)
            try fixture.write("b/ballast", Data())
            let ballast = try #require(
                FileHandle(forWritingAtPath: fixture.directory("b/ballast"))
            )
            while (try? ballast.write(contentsOf: Data(count: 4096))) != nil {}
            try ballast.close()
            let error = await #expect(throws: TransferError.self) {
                try await fixture.run("b", .pull) { $0.deletesKnown = true }
            }
            #expect(error?.code == .localState)
            #expect(error?.message.contains("space") == true, "\(error?.message ?? "")")
            try fixture.remove("b/ballast")
            let again = try await fixture.run("b", .pull) { $0.deletesKnown = true }
            #expect(again.isInStep)
            #expect(again.unchanged == 10)
            #expect(try fixture.tree("b").count == 10)
        }
    }
}

/// A file system in memory that fills up soon.
private struct SmallDisk {
    private let path: String

    /// True for who may mount.
    static var canMount: Bool {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("osssync-mount-\(UUID().uuidString)").path
        guard let disk = try? SmallDisk(at: folder, size: "1m") else { return false }
        disk.unmount()
        try? FileManager.default.removeItem(atPath: folder)
        return true
    }

    init(at path: String, size: String) throws {
        self.path = path
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true
        )
        guard Self.run("mount", "-t", "tmpfs", "-o", "size=\(size)", "osssync-test", path) else {
            throw CocoaError(.fileWriteNoPermission)
        }
    }

    func resize(_ size: String) {
        _ = Self.run("mount", "-o", "remount,size=\(size)", path)
    }

    func unmount() {
        // The last run may still be closing its descriptors.
        _ = Self.run("umount", "-l", path)
    }

    private static func run(_ arguments: String...) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
