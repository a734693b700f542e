internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Copies that a restoration makes: of what it replaces, to the trash, and of what is meant, to a
/// place outside of the directory.
extension ObjectRestorer {
    func place(
        of key: ObjectKey,
        beneath path: RelativePath?,
        to target: RelativePath?
    ) -> ObjectKey {
        guard let target else { return key }
        let rest =
            path.map { [UInt8](key.bytes.dropFirst($0.key.bytes.count)) }
            ?? [UInt8(ascii: "/")] + key.bytes
        let place = ObjectKey(target.key.bytes + rest)
        return isLink(key) && !place.isOfLink ? place.ofLink : place
    }

    /// True for the object of a link that comes back as such.
    func isLink(_ key: ObjectKey) -> Bool { links == .store && key.isOfLink }

    /// The path of the file or link that an object becomes elsewhere.
    func pathElsewhere(_ key: ObjectKey) throws -> RelativePath {
        guard isLink(key) else { return try path(of: key) }
        do throws(UnsafeKey) {
            return try RelativePath(key: key, links: links, names: names)
        } catch {
            throw TransferError(code: .refused, message: SkipReason.unsafeName(error).message)
        }
    }

    /// False for an object of the bucket as it is that is newer than what is asked for.
    func wasThere(_ object: RemoteObject) -> Bool {
        guard case .bucket = origin, case .at(let time) = request.version,
            let written = object.lastModified
        else { return true }
        return written.seconds <= time.secondsSince1970
    }

    /// True if the object of which this is a copy was written after `time`, or its file was changed
    /// after it.
    func isLater(
        _ copy: TrashedObjects.Copy,
        than time: StoreTime
    ) async throws(StorageError) -> Bool {
        let metadata = try await trash.store.head(copy.object.key, versionID: nil)
        let modified = metadata.userMetadata[ModificationTime.metadataName]
            .flatMap { ModificationTime.parse($0) }
        return modified.map { $0.seconds > time.secondsSince1970 } ?? false
    }

    func mayReplace(
        _ found: ObjectMetadata,
        _ key: ObjectKey,
        _ copy: TrashedObjects.Copy,
        _ item: inout RestoredFile
    ) async throws -> Bool {
        if request.mayReplace(key) { return true }
        guard try await traces?.left(found, at: key, after: copy.object, in: copy.run) == true
        else { return false }
        // Perhaps the last good copy.
        guard let row = try await session.manifest.entry(key), row.isDamaged,
            row.etag == found.etag
        else { return true }
        item.message =
            "its file was found damaged, and the object may be the last good copy; "
            + "'osssync verify --repair' first, or --force"
        return false
    }

    /// Puts the copy in the place of `found`, of which a proven copy is in the trash first.
    func replace(
        _ found: ObjectMetadata,
        at whole: ObjectKey,
        _ key: ObjectKey,
        by copy: TrashedObjects.Copy
    ) async throws {
        guard let etag = found.etag else {
            throw TransferError(
                code: .unsupportedServer,
                message: "the store gives no ETag, so it cannot be replaced safely"
            )
        }
        let place = RemoteTrash.place(of: trashName, prefix: trash.prefix)
        let kept = ObjectKey(place.bytes + key.bytes)
        var keeping = BucketCopy(
            context: transfer,
            source: whole,
            etag: etag,
            size: found.size
        )
        keeping.properties = request.properties.ofTrash
        do throws(ItemFailure) {
            try await keeping.makeProven(at: kept)
        } catch {
            throw TransferError(error, of: key.display)
        }
        var copying = try await self.copying(copy)
        copying.replaced = etag
        _ = try await copying.make(at: whole)
    }

    /// What `body` does, or where this key may not change the bucket, a download.
    func orFetched(
        _ copy: TrashedObjects.Copy,
        to key: ObjectKey,
        _ item: inout RestoredFile,
        _ body: () async throws -> RestoredFile.State
    ) async throws -> RestoredFile.State {
        try await requireReadable(copy)
        do {
            return try await body()
        } catch {
            guard TransferError(any: error).code == .forbidden, let fetched, !key.isDirectoryMarker
            else { throw error }
            item.isRemote = false
            return try await fetched.restore(
                copy.object.key,
                past,
                to: path(of: key),
                replaces: request.mayReplace(key)
            )
        }
    }

    /// Refuses a version that is not encrypted with this password, of which no file would come.
    private func requireReadable(_ copy: TrashedObjects.Copy) async throws(StorageError) {
        let object = copy.object
        guard past != nil, trash.store.cipher != nil, object.kind != .symlink,
            object.size > 0 || !object.key.isDirectoryMarker
        else { return }
        guard object.kind != .notEncrypted else {
            throw StorageError(
                kind: .integrity(.sealed(.notEncrypted)),
                operation: "CopyObject",
                key: object.key
            )
        }
        try await source.requireReadable(object.key, object.etag, size: object.size)
    }

    func copying(_ copy: TrashedObjects.Copy) async throws(StorageError) -> BucketCopy {
        var copying = BucketCopy(
            context: transfer,
            source: copy.object.key,
            etag: copy.object.etag,
            size: copy.object.size,
            version: try await past?.version(of: copy.object.key)
        )
        copying.properties = request.properties.ofCopy
        return copying
    }

    /// Brings one back, in the way of its origin and of its place.
    func comes(
        _ copy: TrashedObjects.Copy,
        to key: ObjectKey,
        beneath path: RelativePath?,
        _ item: inout RestoredFile
    ) async throws -> RestoredFile.State {
        if let marker = failedMarkers.above(key) {
            throw TransferError(
                code: .refused,
                message: "'\(marker.display)' did not come back, without which more users could "
                    + "enter that directory"
            )
        }
        if request.outside != nil { return try await download(copy, beneath: path, &item) }
        if case .bucket = origin { return try await bring(copy, to: key, &item) }
        return try await restore(copy, to: key, &item)
    }

    /// Downloads an object to another path of the directory; the bucket stays as it is.
    ///
    /// What is there goes to the trash, and no link is followed.
    func bring(
        _ copy: TrashedObjects.Copy,
        to key: ObjectKey,
        _ item: inout RestoredFile
    ) async throws -> RestoredFile.State {
        item.isRemote = false
        let (path, directory) = (try pathElsewhere(key), directory)
        let here = try await local(path.isLink ? ObjectKey(path.bytes) : path.key)
        guard !path.isDirectory else {
            guard here == .absent else { return here == .directory ? .unchanged : .kept }
            guard !request.isDryRun else { return .restored }
            let permissions = try await permissions(ofMarker: copy)
            try await disk.run { () throws(LocalError) in
                try directory.makeDirectory(path, permissions: permissions)
            }
            return .restored
        }
        let replaces = request.mayReplace(key)
        guard here == .absent || replaces else {
            item.message = request.occupied(inBucket: false)
            return .kept
        }
        guard !request.isDryRun, let fetched else {
            return here == .absent ? .restored : .replaced
        }
        return try await fetched.restore(copy.object.key, past, to: path, replaces: replaces)
    }

    /// Downloads what is meant to a place outside of the directory; changes nothing else.
    func download(
        _ copy: TrashedObjects.Copy,
        beneath asked: RelativePath?,
        _ item: inout RestoredFile
    ) async throws -> RestoredFile.State {
        let path = try pathElsewhere(copy.key)
        let request = request
        let place = try await disk.run { () throws(LocalError) in
            try request.checkedOutsidePath(of: path, beneath: asked)
        }
        guard let place, let fetch else { return .failed }
        (item.target, item.displayTarget) = (place, displayText(place.utf8))
        if past == nil, let latest = request.latest, try await isLater(copy, than: latest) {
            return .later
        }
        let permissions = path.isDirectory ? try await permissions(ofMarker: copy) : nil
        let directory = directory
        let isThere = try await disk.run { () throws(LocalError) in
            let isThere = GivenPath.isThere(place)
            if !request.isDryRun {
                let outside = request.outside(of: path, beneath: asked)
                try directory.makeFolder(of: path, at: place, in: outside, marker: permissions)
            }
            return isThere
        }
        if path.isDirectory { return isThere ? .unchanged : .restored }
        guard !isThere || request.replaces else {
            return try await isEqual(place, copy) ? .unchanged : .kept
        }
        guard !request.isDryRun else { return isThere ? .replaced : .restored }
        if path.isLink {
            let text = GivenPath.temporary(beside: place)
            try await fetch(copy.object.key, past, text)
            try await disk.run { () throws(LocalError) in
                try GivenPath.makeLink(path, ofTextIn: text, at: place)
            }
        } else {
            try await fetch(copy.object.key, past, place)
        }
        return isThere ? .replaced : .restored
    }

    /// True for a file that an earlier restoration put there, as far as the store tells.
    private func isEqual(_ place: String, _ copy: TrashedObjects.Copy) async throws -> Bool {
        let file = try await disk.run { () throws(LocalError) in try GivenPath.file(place) }
        guard let file else { return false }
        return try await isEqual(file, copy)
    }

    /// The same of a file in its place in the directory.
    func hasContent(_ key: ObjectKey, of copy: TrashedObjects.Copy) async throws -> Bool {
        let (path, directory) = (try path(of: key), directory)
        do {
            let file = try await disk.run { () throws(LocalError) in
                try directory.openForReading(path)
            }
            return try await isEqual(file, copy)
        } catch  where ItemFailure.isOfDamagedSource(error) {
            return false
        }
    }

    private func isEqual(_ file: OpenFile, _ copy: TrashedObjects.Copy) async throws -> Bool {
        let (key, size) = (copy.object.key, try file.identity().size)
        let version = try await past?.version(of: key)
        let metadata = try await trash.store.head(key, versionID: version)
        guard metadata.size == size, size > 0 else { return metadata.size == size }
        guard metadata.sealed == nil else {
            let relative = ObjectKey(key.bytes.dropFirst(trash.prefix.bytes.count))
            return try await transfer.compareSealed(file, with: metadata, of: relative) == .proven
        }
        let checksum = try await transfer.reading(on: disk) { interruption in
            let whole = ByteRange(offset: 0, length: size)
            return try file.checksum(of: whole, unless: interruption)
        }
        return try await transfer.hasContent(file, checksum: checksum, of: metadata)
    }
}

extension ObjectRestorer {
    /// Restores, by a download what may not be copied in the bucket.
    func restoreOrFetch(
        _ paths: [RelativePath?],
        to target: RelativePath?,
        at now: Timestamp
    ) async throws -> Outcome {
        guard let fetch, bringsFiles, !request.isDryRun, request.outside == nil else {
            return try await restore(paths, to: target)
        }
        let fetched = try await FetchedVersions(in: directory, on: disk, at: now, fetch)
        var restorer = self
        restorer.fetched = fetched
        do {
            let outcome = try await restorer.restore(paths, to: target)
            try await fetched.finish()
            return outcome
        } catch {
            // What is left there is in the trash for its time.
            try? await fetched.finish()
            throw error
        }
    }

    /// What the last run recorded as a directory in the place of this file, or as a file in that of
    /// a directory that it lies in; nil if there is none.
    func rowInTheWay(of key: ObjectKey) async throws -> ObjectKey? {
        let path = try path(of: key)
        if !path.isDirectory {
            let beneath = KeyRange(prefix: path.beneath)
            let rows = try await session.manifest.rows(.entries(in: beneath), limit: 1)
            if let row = rows.first { return row.key }
        }
        for parent in path.parents {
            let file = ObjectKey(parent.bytes)
            if try await session.manifest.entry(file) != nil { return file }
        }
        return nil
    }

    /// The copies of what does not come from elsewhere.
    func withoutSettled(_ copies: [TrashedObjects.Copy]) -> [TrashedObjects.Copy] {
        copies.filter { copy in
            if let removed = request.removalTimes[pathText(copy.key)],
                let written = copy.object.lastModified,
                written.seconds <= removed.secondsSince1970
            {
                return false
            }
            guard !request.settledKeys.isEmpty else { return true }
            return (try? path(of: copy.key)).map { !request.isSettled($0) }
                ?? !request.settledKeys.contains(copy.key.text)
        }
    }

    /// The copies of which the trash of the directory has no version that is meant rather.
    func withoutBetter(
        in local: [TrashOfRun],
        _ copies: [TrashedObjects.Copy]
    ) async throws -> [TrashedObjects.Copy] {
        guard !local.isEmpty else { return copies }
        let (directory, version) = (directory, request.version)
        return try await disk.run { () throws(LocalError) in
            var best: [TrashedObjects.Copy] = []
            for copy in copies {
                guard let path = try? self.path(of: copy.key) else {
                    best.append(copy)
                    continue
                }
                var isBest = true
                for run in local where version.prefers(run, to: copy.run) {
                    if try directory.trash.holds(path, in: run) { isBest = false }
                }
                if isBest { best.append(copy) }
            }
            return best
        }
    }

    /// Fails where something else than a file has the path.
    func requirePlace(_ key: ObjectKey, _ here: LocalState) throws(TransferError) {
        switch here {
        case .absent, .file: return
        case .other(.symbolicLink) where isLink(key): return
        case .directory, .other: break
        }
        throw TransferError(
            code: .refused,
            message: "\(here.description) has this name here; move it away first, or use --to"
        )
    }
}
