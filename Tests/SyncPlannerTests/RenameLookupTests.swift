import SyncModel
import SyncPlanner
import Testing

@Suite("Content that is here already")
struct RenameLookupTests {
    private let lookup = RenameLookup(
        smallestWorthAsking: 50,
        maximumCandidates: 2,
        judgesInodes: true
    )

    private func candidate(
        _ key: ObjectKey,
        etag: ETag = Recorded.etag,
        size: Int64 = Recorded.size,
        crc64: CRC64? = Recorded.crc64,
        storageClass: StorageClass = .standard,
        file: FileIdentity? = identity(),
        vanished: Bool = false
    ) -> RenameCandidate {
        RenameCandidate(
            row: row(key, size: size, etag: etag, crc64: crc64, storageClass: storageClass),
            file: file,
            isVanished: vanished
        )
    }

    @Test func `a new object with a recorded tag and size is copied from that file`() {
        let source = candidate("old")
        #expect(lookup.localSource(for: object("new"), among: [source]) == .copy(source))
    }

    @Test func `a vanished key is preferred, because it can be renamed`() {
        let vanished = candidate("old", vanished: true)
        let found = lookup.localSource(for: object("new"), among: [candidate("copy"), vanished])
        #expect(found == .copy(vanished))
    }

    @Test func `a file that is not as recorded is no source`() {
        for changed in [
            nil, identity(size: 99), identity(inode: 5),
            identity(modified: Timestamp(seconds: 1)),
        ] {
            let source = candidate("old", file: changed)
            #expect(lookup.localSource(for: object("new"), among: [source]) == .none)
        }
    }

    @Test func `what is no evidence is no source`() {
        let source = candidate("old")
        #expect(lookup.localSource(for: object("new", size: 99), among: [source]) == .none)
        #expect(lookup.localSource(for: object("old"), among: [source]) == .none)
        #expect(lookup.localSource(for: object("new", kind: .symlink), among: [source]) == .none)
        #expect(lookup.localSource(for: object("new", kind: .appendable), among: [source]) == .none)
        let empty = candidate("old", size: 0, file: identity(size: 0))
        #expect(lookup.localSource(for: object("new", size: 0), among: [empty]) == .none)
        let untagged = candidate("old", etag: ETag(wire: ""), crc64: nil)
        let bare = object("new", etag: ETag(wire: ""))
        #expect(lookup.localSource(for: bare, among: [untagged]) == .none)
        #expect(lookup.localSource(for: object("new"), among: []) == .none)
    }

    @Test func `a tag that is no MD5 leaves the checksum to decide`() {
        let new = object("new", etag: ETag(wire: "\"AB-4\""))
        let source = candidate("old")
        #expect(lookup.localSource(for: new, among: [source]) == .checksum([source]))
        #expect(lookup.localSource(for: new, among: [candidate("old", crc64: nil)]) == .none)
        let small = candidate("old", size: 49, file: identity(size: 49))
        let smallObject = object("new", size: 49, etag: ETag(wire: "\"AB-4\""))
        #expect(lookup.localSource(for: smallObject, among: [small]) == .none)
    }

    @Test func `two different MD5s are two contents`() {
        let new = object("new", etag: ETag(wire: "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"))
        #expect(lookup.localSource(for: new, among: [candidate("old")]) == .none)
    }

    @Test func `candidates are limited and the vanished come first`() {
        let new = object("new", etag: ETag(wire: "x"))
        let vanished = candidate("c", vanished: true)
        let found = lookup.localSource(
            for: new,
            among: [candidate("a"), candidate("b"), vanished]
        )
        #expect(found == .checksum([vanished, candidate("a")]))
    }

    @Test func `a file that seems to have moved here is compared with its old object`() {
        let source = candidate("old", file: nil)
        let another = candidate("another", file: nil)
        let found = lookup.remoteSource(for: identity(), at: "new", among: [source])
        #expect(found == .checksum([source]))
        // At any size; but without a checksum there is nothing to compare with.
        let small = candidate("old", size: 49, file: nil)
        #expect(
            lookup.remoteSource(for: identity(size: 49), at: "new", among: [small])
                == .checksum([small])
        )
        let unverified = candidate("old", crc64: nil, file: nil)
        #expect(lookup.remoteSource(for: identity(), at: "new", among: [unverified]) == .none)
        #expect(
            lookup.remoteSource(for: identity(), at: "new", among: [unverified, another])
                == .checksum([another])
        )
    }

    @Test func `another file of that size leaves the checksum to decide`() {
        let source = candidate("old")
        let copy = identity(inode: 1_234)
        #expect(
            lookup.remoteSource(for: copy, at: "new", among: [source]) == .checksum([source])
        )
        #expect(lookup.remoteSource(for: copy, at: "old", among: [source]) == .none)
        let unverified = candidate("old", crc64: nil)
        #expect(lookup.remoteSource(for: copy, at: "new", among: [unverified]) == .none)
        let small = identity(size: 49, inode: 4)
        let smallSource = candidate("old", size: 49)
        #expect(lookup.remoteSource(for: small, at: "new", among: [smallSource]) == .none)
        #expect(
            lookup.remoteSource(for: identity(size: 0), at: "new", among: [candidate("o", size: 0)])
                == .none
        )
    }

    @Test func `an archived object cannot be copied`() {
        let source = candidate("old", storageClass: .archive)
        #expect(lookup.remoteSource(for: identity(), at: "new", among: [source]) == .none)
    }

    @Test func `the checksum chooses, a vanished one first`() {
        let other = candidate("a", crc64: CRC64(value: 1))
        let equal = candidate("b")
        let vanished = candidate("c", vanished: true)
        let all = [other, equal, vanished]
        #expect(lookup.match(Recorded.crc64, among: all) == vanished)
        #expect(lookup.match(CRC64(value: 1), among: all) == other)
        #expect(lookup.match(CRC64(value: 2), among: all) == nil)
        #expect(lookup.match(CRC64(value: 2), among: [candidate("d", crc64: nil)]) == nil)
    }
}
