import ObjectStorage
import SyncModel
import SyncPlanner
import Testing

@testable import OSSTransfer
@testable import ObjectTransfer
@testable import SyncEngine

/// One of each kind of small file, with every member that it can have.
@Suite("Small files of the state")
struct StateFileTests {
    private static let key = ObjectKey([0x61, 0x00, 0x0A, 0x25, 0x22, 0x5C, 0xFF, 0x2F])
    private static let file = FileIdentity(
        size: 40,
        modified: Timestamp(seconds: -1, nanoseconds: 999_999_999),
        changed: Timestamp(seconds: 3),
        inode: .max,
        device: 6
    )
    private static let remote = RemoteIdentity(
        dialect: "s3",
        endpointHost: "h",
        endpointPort: 9_000,
        bucket: "b",
        prefix: "\n%\"/"
    )
    private static var rules: RoundRules {
        var rules = RoundRules()
        (rules.current, rules.local, rules.held) = ([0xFF, 0x0A], [], [[0x2A]])
        return rules
    }
    /// With another number in each of its counts.
    static var check: DeletionGuard {
        var check = DeletionGuard(
            direction: .push,
            deletions: 1,
            rows: 2,
            listedObjects: 3,
            walkedEntries: 4,
            isListingProven: true,
            isScanProven: false,
            failedItems: 5,
            skippedItems: 6,
            vanishedItems: 7,
            isSameDirectory: true,
            isManifestRebuilt: true,
            allowsEmpty: false,
            limit: .percent(0)
        )
        (check.leftOutNames, check.leftOutObjects) = (8, 9)
        check.bare = .init(rows: 10, objects: 11, entries: 12)
        return check
    }
    private static let download = Checkpoint(
        source: "oss://h/b/k",
        etag: "E",
        totalLength: 100,
        crc64: .max,
        ranges: [
            .init(offset: 0, length: 16, crc64: 7, marks: [.init(length: 8, crc64: 1)]),
            .init(offset: 64, length: 3, crc64: 8, marks: nil),
        ],
        rangeSize: 16,
        partialName: "p",
        seal: .init(identity: file, bootID: "boot")
    )
    private static var upload: UploadRecord {
        get throws {
            let number = try #require(PartNumber(2))
            let part = UploadedPart(
                number: number,
                size: 16,
                etag: ETag(wire: "B"),
                crc64: CRC64(value: 7)
            )
            let checkpoint = UploadCheckpoint(
                key: key,
                uploadID: UploadID("u"),
                partSize: 16,
                source: file,
                token: "t",
                started: Timestamp(seconds: 9),
                parts: [part]
            )
            return UploadRecord(target: "oss://h/b/k", checkpoint: checkpoint)
        }
    }

    /// With nothing but what such a file has.
    private static var damagedRow: ManifestEntry {
        ManifestEntry(
            key: key,
            size: 1 << 40,
            etag: ETag(wire: ""),
            crc64: CRC64(value: .max),
            lastModified: nil,
            storageClass: .standard,
            localModified: Timestamp(seconds: 1_700_000_000, nanoseconds: 5),
            inode: .max,
            isDamaged: true
        )
    }

    private static var files: [any StateFile & Hashable] {
        get throws {
            [
                StateIdentity(
                    state: "abc",
                    remote: remote,
                    confirmed: remote,
                    directory: "/d ü",
                    place: "/s"
                ),
                Cutting(name: "c", bounds: ["a", key]),
                FreedPaths().adding(["a", key]),
                Round(
                    name: "r",
                    cutting: "c",
                    ordinal: 3,
                    direction: .sync,
                    options: [.init(name: "--delete", value: "true")],
                    rules: rules,
                    command: ["pull", "--exclude", "*\n"]
                ),
                RoundEnd(round: "r", deletions: 12, time: StoreTime(secondsSince1970: 5)),
                LiveRun(
                    title: "push",
                    progress: RunProgress(
                        isPlanComplete: true,
                        itemsPlanned: 3,
                        itemsFinished: 1,
                        bytesPlanned: 300,
                        bytesFinished: 120,
                        bytesResumed: 7,
                        active: [
                            ActiveTransfer(
                                action: .upload,
                                key: "a\n",
                                size: 100,
                                bytesFinished: 20,
                                bytesResumed: 7
                            )
                        ]
                    ),
                    rate: 9,
                    steadyRate: nil,
                    remaining: .seconds(4),
                    elapsed: .seconds(3),
                    waiting: "no answer"
                ),
                PastRounds(names: ["a", "b"]),
                AcceptedRules([[0x2A, 0x0A], []], received: nil),
                AcceptedRules([], received: .init()),
                AcceptedRules(
                    [[0x2A]],
                    received: .init(
                        content: CRC64(value: 5),
                        modified: Timestamp(seconds: 7, nanoseconds: 8)
                    )
                ),
                PartedDirectories.Note(keys: [key]),
                DamageFile(
                    rows: [
                        .init(number: 1, entry: damagedRow),
                        .init(number: 2, entry: damagedRow.replacing()),
                    ]
                ),
                SearchedFile(numbers: ["0000": 7]),
                MountList(paths: [key]),
                UnreadPaths(paths: [key]),
                OpenedDirectories.File(items: [.init(key: key, mode: 0o555)]),
                ShardResult(
                    round: "r",
                    cutting: "c",
                    check: check,
                    problems: 9,
                    waiting: 10,
                    mayConfirm: true,
                    transferred: 11,
                    bytes: 12,
                    isInStep: true,
                    notMirrored: 14,
                    recorded: 13
                ),
                TransferRecord(
                    download: download,
                    whole: CRC64(value: 5),
                    upload: try upload,
                    file: "a/b\u{7F}"
                ),
                ManagedRecord(
                    number: 7,
                    relative: "b",
                    transfer: ManagedTransfer(
                        id: "id",
                        kind: .upload,
                        path: "/a/b",
                        context: "\"",
                        pauseReason: "why",
                        priority: -1,
                        networks: TransferJob.NetworkTraits(rawValue: 3),
                        state: .paused,
                        completedBytes: 1,
                        totalBytes: 2,
                        mayRetry: true
                    )
                ),
            ]
        }
    }

    @Test func `are read as they were written, and not after any cut or change of a bit`() throws {
        for file in try Self.files { check(file) }
    }

    private func check<File: StateFile & Hashable>(_ file: File) {
        let content = file.content
        #expect(File(content: content) == file)
        #expect(File(content: content + content) == nil)
        let cuts = content.indices.filter { File(content: [UInt8](content[..<$0])) != nil }
        #expect(cuts == [], "\(File.heading)")
        let changes = content.indices.filter { index in
            (0..<8).contains { bit in
                var other = content
                other[index] ^= 1 << bit
                return File(content: other) != nil
            }
        }
        #expect(changes == [], "\(File.heading)")
    }

    @Test func `have each a heading of their own`() throws {
        let files = try Self.files
        let kinds = Set(files.map { ObjectIdentifier(type(of: $0)) })
        #expect(Set(files.map { type(of: $0).heading }).count == kinds.count)
    }
}
