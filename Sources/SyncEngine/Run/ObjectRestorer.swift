internal import LocalStorage
internal import ManifestStore
package import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// Where objects come back from.
package enum ObjectOrigin: Sendable {
    /// The mirror's trash in the bucket.
    case trash
    /// The bucket as it was.
    case versions(PastStore)
    /// The bucket as it is.
    case bucket
}

/// Copies objects back under the keys that they had: from a mirror's trash in the bucket, or from
/// the versions that the bucket keeps.
///
/// An object that is there stays, unless the request replaces it, or undoes the run that wrote it:
/// then a copy of it goes to the trash first, and is proven.
struct ObjectRestorer: Sendable {
    private static let copiesAtOnce = 16
    private static let downloadsAtOnce = 4

    let trash: TrashedObjects
    /// For copies.
    let transfer: TransferContext
    let session: MirrorSession
    let disk: BlockingQueue
    let request: RestoreRequest
    /// The end of the names of the runs that are meant; nil for those of all mirrors.
    let mark: String?
    /// What the runs left that are undone; nil if none is.
    var traces: RunTraces?
    /// The name of this restoration in the trash of the bucket.
    let trashName: String
    let origin: ObjectOrigin
    let links: LinkPolicy
    let names: NamePolicy
    /// Downloads an object; nil if nothing is to be.
    let fetch: ObjectFetch?
    /// For what may not be copied in the bucket; nil if nothing comes to the directory.
    var fetched: FetchedVersions?
    let onFile: @Sendable (RestoredFile) -> Void
    /// What lies beneath these does not come back.
    let failedMarkers = FailedMarkers()

    var directory: MirrorDirectory { session.directory }
    /// True if the files are to be fetched: where one is, nothing is restored.
    var bringsFiles: Bool { !request.isUndo }
    /// The bucket as it was; nil if no version of it is restored.
    var past: PastStore? {
        if case .versions(let past) = origin { past } else { nil }
    }

    /// Where what comes back is read; of encrypted contents as the files are.
    var source: any ObjectReader {
        guard let past else { return trash.store }
        return trash.store.cipher.map { SealedStore(past, $0) } ?? past
    }

    /// What became of the objects, and the paths of those that are there now.
    struct Outcome: Sendable {
        var report = RestoreReport()
        var paths: [String] = []
    }

    func restore(
        _ paths: [RelativePath?],
        to target: RelativePath?
    ) async throws -> Outcome {
        switch origin {
        case .versions, .bucket: return try await restore(paths, to: target, from: source)
        case .trash: return try await restoreTrash(paths, to: target)
        }
    }

    private func restoreTrash(
        _ paths: [RelativePath?],
        to target: RelativePath?
    ) async throws -> Outcome {
        let runs = try await trash.runs().filter { run in
            mark.map { run.name.suffix($0.utf8.count).elementsEqual($0.utf8) } ?? true
        }
        let chosen = request.version.chosen(among: runs)
        try request.requireWhole(of: chosen)
        let directory = directory
        let (isUndo, version) = (request.isUndo, request.version)
        let local = try await disk.run { () throws(LocalError) in
            isUndo ? [] : version.chosen(among: try directory.trash.runs())
        }
        var outcome = Outcome()
        // Of each file the copy of the best run counts, which is the last one here.
        var done: Set<ObjectKey> = []
        let later = runs.filter { run in chosen.last?.precedes(run) == true }
        for path in paths {
            var isFound = false
            // A directory is emptied before its marker goes, perhaps by an earlier run.
            let others = chosen.count > 1 ? chosen.reversed() + later : later
            var markers = try await markers(in: others, beneath: path)
            for run in chosen.reversed() {
                let name = run.name + [UInt8(ascii: "/")]
                try await trash.forEachPage(name + (path?.key.bytes ?? [])) { copies in
                    let meant = copies.filter { copy in
                        guard let path else { return true }
                        return copy.key == path.key || copy.key.hasPrefix(path.beneath)
                    }.filter { !done.contains($0.key) }
                    if !meant.isEmpty, !isFound {
                        isFound = true
                        try await restoreMarkers(above: path, &outcome) { key in
                            for run in chosen.reversed() + later {
                                if let copy = try await trash.copy(of: key, in: run) { return copy }
                            }
                            return nil
                        }
                    }
                    if chosen.count > 1 { done.formUnion(meant.map(\.key)) }
                    let best = try await withoutBetter(in: local, withoutSettled(meant))
                    for copy in best where bringsFiles {
                        outcome.report.settledKeys.insert(pathText(copy.key))
                    }
                    let isOutside = request.outside != nil
                    let closing = try await markers.taken(above: best) { path in
                        isOutside ? true : try await isAbsent(path)
                    }
                    done.formUnion(closing.map(\.key))
                    try await restore(closing + best, beneath: path, to: target, &outcome)
                    return true
                }
            }
            if !isFound {
                outcome.report.missing.append(
                    path.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "."
                )
            }
        }
        if isUndo, !outcome.report.missing.isEmpty, let (number, time) = version.run {
            let run = try await UndoneRun.find(number, began: time, in: session.manifest)
            for file in run?.goneCopies ?? [] {
                outcome.report.add(file)
                onFile(file)
            }
        }
        return outcome
    }

    /// Restores what the bucket had at and beneath the paths.
    private func restore(
        _ paths: [RelativePath?],
        to target: RelativePath?,
        from store: any ObjectReader
    ) async throws -> Outcome {
        var outcome = Outcome()
        for path in paths {
            var isFound = false
            let beginning = ObjectKey(trash.prefix.bytes + (path?.key.bytes ?? []))
            var page = ListRequest(prefix: beginning)
            repeat {
                let listed = try await store.list(page)
                let meant = listed.objects.compactMap { object -> TrashedObjects.Copy? in
                    let key = ObjectKey(object.key.bytes.dropFirst(trash.prefix.bytes.count))
                    let isMeant = path.map { key == $0.key || key.hasPrefix($0.beneath) } ?? true
                    let isKnown = RelativePath.isSafe(key) || RelativePath.isEscaped(key)
                    guard isMeant, isKnown, !RemoteTrash.contains(key), wasThere(object) else {
                        return nil
                    }
                    return TrashedObjects.Copy(object: object, run: .init(name: []), key: key)
                }
                if !meant.isEmpty, !isFound {
                    isFound = true
                    try await restoreMarkers(above: path, &outcome) { key in
                        try await marker(key, in: store)
                    }
                }
                try await restore(withoutSettled(meant), beneath: path, to: target, &outcome)
                page.token = listed.next
            } while page.token != nil
            if !isFound {
                outcome.report.missing.append(
                    path.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "."
                )
            }
        }
        return outcome
    }

    func restore(
        _ copies: [TrashedObjects.Copy],
        beneath path: RelativePath?,
        to target: RelativePath?,
        _ outcome: inout Outcome
    ) async throws {
        // Directories first, with the permissions of their markers, and each after those above it:
        // until then, it is open to others, on this machine or on all.
        let directories = Dictionary(grouping: copies.filter { isDirectory($0.key) }) { copy in
            copy.key.bytes.count { $0 == UInt8(ascii: "/") }
        }
        for level in directories.keys.sorted() {
            try await restoreAll(directories[level] ?? [], path, target, &outcome)
        }
        let rest = copies.filter { !isDirectory($0.key) }
        guard request.outside != nil else {
            return try await restoreAll(rest, path, target, &outcome)
        }
        // Links last: nothing that comes at the same time may go through one.
        try await restoreAll(rest.filter { !isLink($0.key) }, path, target, &outcome)
        try await restoreAll(rest.filter { isLink($0.key) }, path, target, &outcome)
    }

    private func restoreAll(
        _ copies: [TrashedObjects.Copy],
        _ path: RelativePath?,
        _ target: RelativePath?,
        _ outcome: inout Outcome
    ) async throws {
        let results = Mutex<[(item: RestoredFile, key: ObjectKey)]>([])
        let failures = trash.store.failures
        var rest = copies[...]
        let next = { rest.popFirst() }
        let limit = request.outside == nil ? Self.copiesAtOnce : Self.downloadsAtOnce
        try await forEachBounded(limit: limit, next: next) { copy in
            let key = place(of: copy.key, beneath: path, to: target)
            var item = RestoredFile(
                key: copy.key.text,
                displayKey: copy.key.display,
                target: key.text,
                displayTarget: key.display,
                size: copy.object.size,
                run: copy.run.number,
                isRemote: true,
                state: .failed
            )
            do {
                item.state = try await comes(copy, to: key, beneath: path, &item)
                if item.state == .restored || item.state == .replaced {
                    // Downloads have counts of their own.
                    failures.succeeded("GetObject")
                    failures.stored()
                }
                if item.state == .kept, item.message == nil {
                    item.message =
                        request.outside == nil
                        ? request.occupied(inBucket: true) : RestoredFile.outsideText
                }
                if item.state == .later { item.message = RestoredFile.laterText }
            } catch let error where TransferError(any: error).code == .cancelled {
                throw error
            } catch let error as LocalError where error.isOpenForMore {
                // Nothing is put there that fewer users may see.
                throw error
            } catch {
                item.message = TransferError(any: error).message
                if isDirectory(copy.key), await closesMore(copy) { failedMarkers.add(key) }
                if let end = failures.count(failure: error) { throw end }
            }
            onFile(item)
            results.withLock { $0.append((item, key)) }
        }
        for (item, key) in results.withLock({ $0 }) {
            outcome.report.add(item)
            guard [.restored, .replaced, .unchanged].contains(item.state) else { continue }
            // A directory's own path would fetch all that is in it; the next pull makes it.
            if isDirectory(key) || !item.isRemote { continue }
            outcome.paths.append(pathText(key))
        }
    }

    func path(of key: ObjectKey) throws -> RelativePath {
        do throws(UnsafeKey) {
            return try RelativePath(key: key, links: .skip, names: names)
        } catch {
            throw TransferError(code: .refused, message: SkipReason.unsafeName(error).message)
        }
    }

    private func isDirectory(_ key: ObjectKey) -> Bool {
        (try? path(of: key))?.isDirectory ?? key.isDirectoryMarker
    }

    /// The path of the key's file as a user types it; the key itself if it has none.
    func pathText(_ key: ObjectKey) -> String {
        let bytes = (try? path(of: key))?.bytes ?? key.bytes
        return String(decoding: bytes, as: UTF8.self)
    }

    func restore(
        _ copy: TrashedObjects.Copy,
        to key: ObjectKey,
        _ item: inout RestoredFile
    ) async throws -> RestoredFile.State {
        if bringsFiles, let ruling = session.ignored.ruling(on: key), ruling.excludes {
            throw TransferError(code: .refused, message: "it is excluded by \(ruling.rule)")
        }
        if past == nil, let latest = request.latest, try await isLater(copy, than: latest) {
            return .later
        }
        let here = bringsFiles && !isDirectory(key) ? try await local(key) : .absent
        // What cannot come here is not to take the place of the object, either.
        try requirePlace(key, here)
        let whole = ObjectKey(trash.prefix.bytes + key.bytes)
        var found: ObjectMetadata?
        do throws(StorageError) {
            found = try await trash.store.head(whole, knownSize: copy.object.size)
        } catch {
            guard error.isNotFound else { throw error }
        }
        if let found {
            guard try await isSame(found, copy) else {
                guard try await mayReplace(found, key, copy, &item) else { return .kept }
                guard !request.isDryRun else { return .replaced }
                return try await orFetched(copy, to: key, &item) {
                    try await replace(found, at: whole, key, by: copy)
                    return .replaced
                }
            }
            if here == .absent { return bringsFiles ? .restored : .unchanged }
            if try await isMirrored(here, key, found.etag) { return .unchanged }
            return request.mayReplace(key) ? .replaced : .kept
        }
        if case .file = here, past != nil, !request.mayReplace(key),
            try await hasContent(key, of: copy)
        {
            return .unchanged
        }
        guard here == .absent || request.mayReplace(key) else {
            item.message = request.occupied(inBucket: false)
            return .kept
        }
        if !bringsFiles, let other = try await rowInTheWay(of: key) {
            item.message =
                "the bucket has '\(other.display)', and a directory cannot have both; remove that "
                + "here and push it with --delete first"
            return .kept
        }
        let done = here == .absent ? RestoredFile.State.restored : .replaced
        guard !request.isDryRun else { return done }
        let state = try await orFetched(copy, to: key, &item) { try await make(copy, at: whole) }
        return state == .restored ? done : state
    }

    /// What is in the directory; an error if no file can be there.
    func local(_ key: ObjectKey) async throws -> LocalState {
        let (path, directory) = (try self.path(of: key), directory)
        return try await disk.run { () throws(LocalError) in
            var above = path.parent
            while let parent = above {
                switch try directory.identity(of: parent) {
                case .file, .other: throw .parentIsFile(parent)
                case .directory: above = nil
                case .absent: above = parent.parent
                }
            }
            return try directory.identity(of: path)
        }
    }

    /// True for a file that is as the last run left it, with the content of that object.
    private func isMirrored(
        _ here: LocalState,
        _ key: ObjectKey,
        _ etag: ETag?
    ) async throws -> Bool {
        guard case .file(let file) = here, let row = try await session.manifest.entry(key) else {
            return false
        }
        return row.etag == etag && row.size == file.size && row.localModified == file.modified
    }

    private func make(
        _ copy: TrashedObjects.Copy,
        at whole: ObjectKey
    ) async throws -> RestoredFile.State {
        do {
            _ = try await copying(copy).make(at: whole)
            return .restored
        } catch let error as StorageError {
            guard error.mayHaveMadeObject else { throw error }
            let found = try await trash.store.head(whole, knownSize: copy.object.size)
            return try await isSame(found, copy) ? .restored : .kept
        }
    }

    private func isSame(
        _ found: ObjectMetadata,
        _ copy: TrashedObjects.Copy
    ) async throws(StorageError) -> Bool {
        let copying = try await copying(copy)
        if copying.isProven(by: found, nil) { return true }
        guard found.size == copy.object.size, found.stored.crc64 != nil else { return false }
        let original = try await trash.store.head(copying.source, versionID: copying.version)
        return copying.isProven(by: found, original.stored.crc64)
    }
}
