import SyncModel
import SyncPlanner
import Testing

@Suite("A name that is a file's and a directory's")
struct PrefixConflictTests {
    private func decisions(_ items: [PlannedItem]) -> [ObjectKey: Decision] {
        Dictionary(uniqueKeysWithValues: items.map { ($0.entry.key, $0.decision) })
    }

    @Test(arguments: [SyncDirection.pull, .sync])
    func `the directory wins and the object is skipped`(direction: SyncDirection) throws {
        let items = try plan(policy(direction), remote: [object("a"), object("a/b")])
        #expect(
            decisions(items) == ["a": .skip(.shadowedByDirectory), "a/b": .download(.new)]
        )
    }

    @Test func `keys that sort between them change nothing`() throws {
        let between: [ObjectKey] = ["a!", "a-x", "a-x/y", "a.txt"]
        let remote = (["a"] + between + ["a/b", "a0"]).map { object($0) }
        let found = decisions(try plan(policy(.pull), remote: remote, batch: 1))
        #expect(found["a"] == .skip(.shadowedByDirectory))
        #expect(found["a-x"] == .skip(.shadowedByDirectory))
        for key in ["a!", "a-x/y", "a.txt", "a/b", "a0"] as [ObjectKey] {
            #expect(found[key] == .download(.new))
        }
    }

    @Test func `nested directories win on every level`() throws {
        let remote = ["a", "a/b", "a/b/c", "a/b/c/d"].map { object(ObjectKey($0)) }
        let found = decisions(try plan(policy(.pull), remote: remote))
        #expect(found["a"] == .skip(.shadowedByDirectory))
        #expect(found["a/b"] == .skip(.shadowedByDirectory))
        #expect(found["a/b/c"] == .skip(.shadowedByDirectory))
        #expect(found["a/b/c/d"] == .download(.new))
    }

    @Test func `a marker is a directory too`() throws {
        let remote = [object("a"), object("a/", size: 0)]
        let found = decisions(try plan(policy(.pull), remote: remote))
        #expect(found == ["a": .skip(.shadowedByDirectory), "a/": .makeDirectory])
    }

    @Test(arguments: [SyncDirection.pull, .sync])
    func `three runs decide alike`(direction: SyncDirection) throws {
        var world = World()
        for key in ["a", "a-x", "a/b", "a/b/c"] as [ObjectKey] {
            let content = World.Content(id: world.fresh(), size: 5)
            world.objects[key] = World.Stored(content: content, etag: world.tag(world.fresh()))
        }
        let before = world.objects
        let policy = policy(direction, deletes: true)
        let first = try world.run(policy)
        #expect(first.leftAlone == ["a", "a/b"])
        for _ in 0..<2 {
            let next = try world.run(policy)
            #expect(!next.didSomething)
            #expect(next.leftAlone == ["a", "a/b"])
        }
        #expect(world.objects == before)
        #expect(Set(world.files.keys) == ["a-x", "a/b/c"])
        #expect(world.violations.isEmpty)
    }

    @Test(arguments: [SyncDirection.pull, .sync])
    func `a file whose object is gone is deleted at the end, and the keys beneath come then`(
        direction: SyncDirection
    ) throws {
        let items = try plan(
            policy(direction, deletes: true),
            remote: [object("a/", size: 0), object("a/b"), object("a/c"), object("a/c/d")],
            base: [row("a")],
            local: [file("a")]
        )
        #expect(items.first?.entry.key == "a")
        #expect(
            decisions(items) == [
                "a": .deleteLocal(.known), "a/": .downloadAfterDeletions(.new),
                "a/b": .downloadAfterDeletions(.new), "a/c": .skip(.shadowedByDirectory),
                "a/c/d": .downloadAfterDeletions(.new),
            ]
        )
    }

    @Test(arguments: [SyncDirection.pull, .sync])
    func `without a flag that deletes, no file goes for what is beneath`(
        direction: SyncDirection
    ) throws {
        for force in [false, true] {
            let items = try plan(
                policy(direction, force: force),
                remote: [object("a/b"), object("a/c")],
                base: [row("a")],
                local: [file("a")]
            )
            #expect(
                decisions(items) == [
                    "a": .skip(.blocksDirectory(isNew: false)), "a/b": .skip(.blockedByFile("a")),
                    "a/c": .skip(.blockedByFile("a")),
                ]
            )
        }
    }

    @Test(arguments: [SyncDirection.pull, .sync], [false, true])
    func `a file whose object is listed stays, whatever flags there are`(
        direction: SyncDirection,
        isMarker: Bool
    ) throws {
        let beneath: ObjectKey = isMarker ? "a/" : "a/b"
        for deletes in [false, true] {
            let policy = policy(direction, deletes: deletes, extra: deletes, force: deletes)
            let same = try plan(
                policy,
                remote: [object("a"), object(beneath, size: isMarker ? 0 : 5)],
                base: [row("a")],
                local: [file("a")]
            )
            #expect(
                decisions(same) == ["a": .nothing(.unchanged), beneath: .skip(.blockedByFile("a"))]
            )
            let changed = try plan(
                policy,
                remote: [object("a", size: 77), object(beneath, size: isMarker ? 0 : 5)],
                base: [row("a")],
                local: [file("a")]
            )
            #expect(
                decisions(changed) == [
                    "a": .download(.changed), beneath: .skip(.blockedByFile("a")),
                ]
            )
        }
    }

    @Test(arguments: [SyncDirection.pull, .sync])
    func `a changed or unknown file stays and the keys beneath wait`(
        direction: SyncDirection
    ) throws {
        let changed = try plan(
            policy(direction),
            remote: [object("a/b"), object("a/c/d")],
            base: [row("a")],
            local: [file("a", size: 1)]
        )
        #expect(
            decisions(changed) == [
                "a": .skip(.blocksDirectory(isNew: false)), "a/b": .skip(.blockedByFile("a")),
                "a/c/d": .skip(.blockedByFile("a")),
            ]
        )
        let unknown = try plan(policy(direction), remote: [object("a/b")], local: [file("a")])
        #expect(
            decisions(unknown) == [
                "a": .skip(.blocksDirectory(isNew: true)), "a/b": .skip(.blockedByFile("a")),
            ]
        )
    }

    @Test(arguments: [SyncDirection.pull, .sync])
    func `a file without a row is compared with the object of its size`(
        direction: SyncDirection
    ) throws {
        let found = try plan(
            policy(direction),
            remote: [object("a"), object("a/b")],
            local: [file("a")]
        )
        #expect(
            decisions(found) == [
                "a": .compare(
                    .fileWithObject(Recorded.etag),
                    same: .adopt,
                    different: .conflict(.bothNew, .downloadKeepingLocal)
                ),
                "a/b": .skip(.blockedByFile("a")),
            ]
        )
        let other = try plan(
            policy(direction),
            remote: [object("a", size: 9), object("a/b")],
            local: [file("a")]
        )
        #expect(decisions(other)["a"] == .conflict(.bothNew, .downloadKeepingLocal))
        let empty = try plan(
            policy(direction),
            remote: [object("a", size: 0), object("a/b")],
            local: [file("a", size: 0)]
        )
        #expect(decisions(empty)["a"] == .adopt)
    }

    @Test func `flags that give the file up let the directory in afterwards`() throws {
        let given = try plan(
            policy(.pull, deletes: true, conflict: .remote),
            remote: [object("a/b")],
            base: [row("a")],
            local: [file("a", size: 1)]
        )
        #expect(
            given.map(\.decision) == [
                .conflict(.localChangedRemoteGone, .deleteLocal), .downloadAfterDeletions(.new),
            ]
        )
        let extra = try plan(
            policy(.pull, extra: true),
            remote: [object("a/b")],
            local: [file("a")]
        )
        #expect(extra.map(\.decision) == [.deleteLocal(.extra), .downloadAfterDeletions(.new)])
    }

    @Test func `the content of a touched file decides, and the keys beneath wait for it`() throws {
        let items = try plan(
            policy(.pull, deletes: true),
            remote: [object("a/b")],
            base: [row("a")],
            local: [file("a", inode: 9)]
        )
        #expect(
            decisions(items) == [
                "a": .compare(
                    .fileWithRow(Recorded.crc64),
                    same: .deleteLocal(.known),
                    different: .conflict(.localChangedRemoteGone, .leaveBoth)
                ),
                "a/b": .downloadAfterDeletions(.new),
            ]
        )
    }

    @Test func `a file is not moved for keys that cannot come`() throws {
        let items = try plan(
            policy(.pull),
            remote: [object("a"), object("a/../b"), object("a/b", storageClass: .archive)],
            base: [row("a")],
            local: [file("a")]
        )
        #expect(
            decisions(items) == [
                "a": .nothing(.unchanged), "a/../b": .skip(.unsafeName(.dotComponent)),
                "a/b": .skip(.needsRestore(.archive, isOngoing: false)),
            ]
        )
    }

    @Test func `a directory that the run empties makes room for the file afterwards`() throws {
        let remote = [object("a")]
        let base = [row("a/b"), row("a/c/d")]
        let local = [
            directory("a/", isEmpty: false), file("a/b"), directory("a/c/", isEmpty: false),
            file("a/c/d"),
        ]
        let items = try plan(policy(.pull, deletes: true), remote: remote, base: base, local: local)
        let found = decisions(items)
        #expect(found["a"] == .downloadAfterDeletions(.new))
        #expect(found["a/b"] == .deleteLocal(.known))
        #expect(items.last?.entry.key == "a")
        let keeping = try plan(policy(.pull), remote: remote, base: base, local: local)
        #expect(decisions(keeping)["a"] == .skip(.shadowedByDirectory))
    }

    @Test func `a directory with a file that stays makes no room`() throws {
        let items = try plan(
            policy(.pull, deletes: true),
            remote: [object("a")],
            base: [row("a/b")],
            local: [directory("a/", isEmpty: false), file("a/b"), file("a/mine")]
        )
        #expect(decisions(items)["a"] == .skip(.shadowedByDirectory))
    }

    @Test func `a directory that a file became stays a directory`() throws {
        // The user replaced a known file by a directory of that name.
        let items = try plan(
            policy(.sync, deletes: true),
            remote: [object("a")],
            base: [row("a")],
            local: [directory("a/", isEmpty: false), file("a/b")]
        )
        #expect(
            decisions(items) == [
                "a": .deleteRemote(.known), "a/": .nothing(.impliedDirectory),
                "a/b": .upload(.new),
            ]
        )
    }

    @Test func `a push sends no new file where others made a directory`() throws {
        let local = [file("a"), file("a-x"), file("b")]
        let remote = [object("a/b"), object("b/"), object("b/c")]
        for isRecorded in [false, true] {
            let items = try plan(
                policy(.push),
                remote: remote,
                base: isRecorded ? [row("a/b"), row("b/"), row("b/c")] : [],
                local: local
            )
            let expected: Decision =
                isRecorded ? .upload(.new) : .skip(.blocksDirectory(isNew: true))
            let found = decisions(items)
            #expect(found["a"] == expected && found["b"] == expected)
            #expect(found["a-x"] == .upload(.new))
        }
        for policy in [policy(.push, extra: true), policy(.push, conflict: .local)] {
            let found = decisions(try plan(policy, remote: remote, local: local))
            #expect(found["a"] == .upload(.new) && found["b"] == .upload(.new))
        }
    }

    @Test func `a push names the objects that others put in the place of its directories`() throws {
        let remote = [object("a"), object("b"), object("c"), object("c/d")]
        let local = [
            directory("a/", isEmpty: true), directory("c/", isEmpty: false), file("c/d"),
            file("c/e"),
        ]
        let found = decisions(
            try plan(policy(.push), remote: remote, base: [row("c/d")], local: local)
        )
        #expect(found["a"] == .skip(.besideDirectory) && found["c"] == .skip(.besideDirectory))
        #expect(found["b"] == .nothing(.onlyRemote))
        #expect(found["c/e"] == .upload(.new))
        let marker = try plan(policy(.push), remote: [object("c", size: 0)], local: local)
        #expect(decisions(marker)["c"] == .nothing(.onlyRemote))
        let sent = decisions(
            try plan(policy(.push), remote: remote, base: [row("a"), row("c")], local: local)
        )
        #expect(sent["a"] == .nothing(.deletedLocally) && sent["c"] == .nothing(.deletedLocally))
    }

    @Test func `every key comes out once, however deep the names nest`() throws {
        var names: [ObjectKey] = []
        var text = "a"
        for _ in 0..<255 {
            names.append(ObjectKey(text))
            text += "-"
        }
        let items = try plan(policy(.pull), remote: names.map { object($0) }, batch: 7)
        #expect(items.map(\.entry.key).sorted() == names)
        #expect(items.allSatisfy { $0.decision == .download(.new) })
    }

    @Test func `a link that is not followed needs no directory and shadows nothing`() throws {
        func link(_ key: ObjectKey) -> RemoteObject { object(key, size: 17, kind: .symlink) }
        let beside = try plan(policy(.pull), remote: [object("a"), link("a/l")])
        #expect(
            decisions(beside) == ["a": .download(.new), "a/l": .skip(.linkObject)]
        )
        let above = try plan(policy(.pull), remote: [link("a"), object("a/b")])
        #expect(decisions(above) == ["a": .skip(.linkObject), "a/b": .download(.new)])
        let blocked = entry("a/l", remote: link("a/l"))
        #expect(decide(blocked, policy(.pull), at: .blocked(by: "a")) == .skip(.linkObject))
    }
}
