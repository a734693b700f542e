import SyncModel
import SyncPlanner
import Testing

@Suite("Single decisions")
struct DecisionTests {
    @Test func `a moved inode is a touched file, unless inodes are not judged`() {
        let moved = entry(base: row(), local: file(inode: 78), remote: object())
        #expect(
            decide(moved, policy(.pull))
                == .compare(
                    .fileWithRow(Recorded.crc64),
                    same: .refresh(.unchanged),
                    different: .keepLocalChange
                )
        )
        #expect(decide(moved, policy(.pull, judgesInodes: false)) == .nothing(.unchanged))
        let unknown = entry(base: row(inode: 0), local: file(inode: 78), remote: object())
        #expect(decide(unknown, policy(.pull)) == .nothing(.unchanged))
    }

    @Test func `in another directory than recorded, other content counts as never recorded`() {
        var policy = policy(.push)
        policy.knowsDirectory = false
        let moved = entry(base: row(), local: file(inode: 78), remote: object())
        #expect(
            decide(moved, policy)
                == .compare(
                    .fileWithRow(Recorded.crc64),
                    same: .refresh(.unchanged),
                    different: .compare(
                        .fileWithObject(Recorded.etag),
                        same: .adopt,
                        different: .conflict(.bothNew, .leaveBoth)
                    )
                )
        )
    }

    @Test func `one nanosecond is a touch`() {
        let later = Timestamp(seconds: 1_700_000_000, nanoseconds: 6)
        #expect(
            LocalChange(of: file(modified: later), since: row(), judgesInodes: true) == .touched
        )
    }

    @Test func `a file dated beyond the representable years is not touched for ever`() {
        let far = Timestamp(seconds: 99_999_999_999)
        let stored = Timestamp(nanosecondsSince1970: far.nanosecondsSince1970)
        let change = LocalChange(
            of: file(modified: far),
            since: row(modified: stored),
            judgesInodes: true
        )
        #expect(change == .same)
    }

    @Test(arguments: SyncDirection.allCases)
    func `an empty touched file needs no comparison`(direction: SyncDirection) {
        let touched = entry(
            base: row(size: 0),
            local: file(size: 0, inode: 5),
            remote: object(size: 0)
        )
        #expect(decide(touched, policy(direction)) == .refresh(.unchanged))
    }

    @Test func `a touched file of a row without checksum is compared with the object`() {
        let touched = entry(base: row(crc64: nil), local: file(inode: 5), remote: object())
        #expect(
            decide(touched, policy(.push))
                == .compare(
                    .fileWithObject(Recorded.etag),
                    same: .refresh(.unchanged),
                    different: .upload(.changed)
                )
        )
    }

    @Test func `a touched file that nothing can vouch for counts as changed`() {
        let touched = entry(base: row(crc64: nil), local: file(inode: 5))
        #expect(decide(touched, policy(.pull)) == .keepLocalChange)
        #expect(
            decide(touched, policy(.pull, deletes: true))
                == .conflict(.localChangedRemoteGone, .leaveBoth)
        )
        #expect(
            decide(touched, policy(.sync, deletes: true))
                == .conflict(.localChangedRemoteGone, .upload)
        )
    }

    @Test func `checksum without a recorded checksum trusts the mtime where it must`() {
        let unchanged = entry(base: row(crc64: nil), local: file())
        #expect(
            decide(unchanged, policy(.pull, deletes: true, checksum: true)) == .deleteLocal(.known)
        )
    }

    @Test func `with --force what is damaged counts as changed`() {
        let unchanged = entry(base: row(), local: file(), remote: object())
        let changes: [(SyncDirection, Decision)] = [
            (.pull, .download(.replacesLocalChange)), (.push, .upload(.changed)),
            (.sync, .upload(.changed)),
        ]
        for (direction, change) in changes {
            #expect(
                decide(unchanged, policy(direction, force: true, checksum: true))
                    == .compare(
                        .fileWithRow(Recorded.crc64),
                        same: .nothing(.unchanged),
                        different: change
                    )
            )
        }
    }

    @Test(arguments: [SyncDirection.push, .sync])
    func `what is damaged is preferred to no newer object`(direction: SyncDirection) {
        let damaged = entry(
            base: row().replacing(isDamaged: true),
            local: file(),
            remote: object(size: 1_234)
        )
        let decision = decide(damaged, policy(direction, conflict: .local))
        guard case .compare(_, _, let different) = decision else {
            Issue.record("it is read")
            return
        }
        #expect(different == .skip(.damaged(isObjectThere: true)))
    }

    @Test func `two different MD5s are a new version without a question`() {
        let other = ETag(wire: "\"FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF\"")
        let changed = entry(base: row(), local: file(), remote: object(etag: other))
        #expect(decide(changed, policy(.pull)) == .download(.changed))
        // A conflict must be certain.
        #expect(
            decide(changed, policy(.push))
                == .compare(
                    .objectWithRow(Recorded.crc64),
                    same: .adopt,
                    different: .conflict(.remoteNewer, .leaveBoth)
                )
        )
    }

    @Test func `the same MD5 in another letter case is the same version`() {
        let lower = ETag(wire: "\"0123456789abcdef0123456789abcdef\"")
        let listed = entry(base: row(), local: file(), remote: object(etag: lower))
        for direction in SyncDirection.allCases {
            #expect(decide(listed, policy(direction)) == .nothing(.unchanged))
        }
    }

    @Test func `a rewritten object without recorded checksum is downloaded, or compared by a push`()
    {
        let tag = ETag(wire: "x-9")
        let changed = entry(base: row(crc64: nil), local: file(), remote: object(etag: tag))
        #expect(decide(changed, policy(.sync)) == .download(.changed))
        #expect(
            decide(changed, policy(.push))
                == .compare(
                    .fileWithObject(tag),
                    same: .adopt,
                    different: .conflict(.remoteNewer, .leaveBoth)
                )
        )
    }

    @Test(arguments: SyncDirection.allCases)
    func `an empty object with a new tag is adopted`(direction: SyncDirection) {
        let changed = entry(
            base: row(size: 0),
            local: file(size: 0),
            remote: object(size: 0, etag: ETag(wire: "x"))
        )
        #expect(decide(changed, policy(direction)) == .adopt)
    }

    @Test(
        arguments: [StorageClass.archive, .coldArchive, .deepColdArchive, .init(name: "GLACIER")],
        [nil, RestoreState.ongoing]
    )
    func `an archived object is skipped and nothing is deleted for it`(
        storageClass: StorageClass,
        restore: RestoreState?
    ) {
        let remote = object(size: 7, storageClass: storageClass, restoreState: restore)
        let skip = Decision.skip(.needsRestore(storageClass, isOngoing: restore == .ongoing))
        let everything = policy(.pull, deletes: true, extra: true, force: true, conflict: .remote)
        #expect(decide(entry(remote: remote), everything) == skip)
        #expect(decide(entry(base: row(), remote: remote), everything) == skip)
        #expect(decide(entry(base: row(), local: file(), remote: remote), everything) == skip)
        #expect(
            decide(entry(base: row(), local: file(size: 8), remote: remote), everything) == skip
        )
        #expect(decide(entry(local: file(size: 8), remote: remote), everything) == skip)
    }

    @Test func `a restored object is downloaded`() {
        let remote = object(storageClass: .archive, restoreState: .restored)
        #expect(decide(entry(remote: remote), policy(.pull)) == .download(.new))
    }

    @Test func `an archived object that is as recorded is unchanged`() {
        let remote = object(storageClass: .archive)
        for direction in SyncDirection.allCases {
            let same = entry(base: row(), local: file(), remote: remote)
            #expect(decide(same, policy(direction, deletes: true)) == .nothing(.unchanged))
        }
    }

    @Test func `a file that replaces an archived object is uploaded`() {
        let changed = entry(
            base: row(),
            local: file(size: 1),
            remote: object(storageClass: .archive)
        )
        #expect(decide(changed, policy(.push)) == .upload(.changed))
    }

    @Test func `links that are not followed are skipped`() {
        let link = object(size: 17, kind: .symlink)
        #expect(decide(entry(remote: link), policy(.pull)) == .skip(.linkObject))
        #expect(decide(entry(remote: link), policy(.sync)) == .skip(.linkObject))
        let both = entry(base: row(), local: file(), remote: link)
        #expect(decide(both, policy(.push)) == .skip(.linkObject))
        // A push would not touch it.
        #expect(decide(entry(remote: link), policy(.push)) == .nothing(.onlyRemote))
    }

    @Test func `what no object can be is not uploaded`() {
        let long = ObjectKey([UInt8](repeating: UInt8(ascii: "a"), count: 200))
        #expect(
            decide(entry(long, local: file(long)), policy(.push, maximumKeyLength: 199))
                == .skip(.keyTooLong(length: 200, maximum: 199))
        )
        #expect(
            decide(entry(long, local: file(long)), policy(.push, maximumKeyLength: 200))
                == .upload(.new)
        )
        let limit = PartLayout.maximumObjectSize
        #expect(decide(entry(local: file(size: limit)), policy(.push)) == .upload(.new))
        #expect(
            decide(entry(local: file(size: limit + 1)), policy(.push))
                == .skip(.fileTooLarge(size: limit + 1))
        )
        let marker: ObjectKey = "dir/"
        #expect(
            decide(
                entry(marker, local: directory(marker, isEmpty: true)),
                policy(.push, maximumKeyLength: 3)
            ) == .skip(.keyTooLong(length: 4, maximum: 3))
        )
    }

    @Test func `an object of a size that none can have is left alone`() {
        let largest = RemoteObject.largestSize
        let plausible = entry("k", remote: object("k", size: largest))
        #expect(decide(plausible, policy(.pull)) == .download(.new))
        for size in [largest + 1, Int64.max] {
            let lie = entry("k", base: row("k"), remote: object("k", size: size))
            #expect(decide(lie, policy(.pull, deletes: true)) == .skip(.impossibleSize(size)))
            #expect(decide(lie, policy(.push, deletes: true)) == .skip(.impossibleSize(size)))
        }
    }

    @Test func `comparisons say what they need`() {
        let crc = CRC64(value: 1)
        #expect(Comparison.fileWithRow(crc).readsFile)
        #expect(Comparison.fileWithObject(Recorded.etag).readsFile)
        #expect(!Comparison.objectWithRow(crc).readsFile)
    }
}
