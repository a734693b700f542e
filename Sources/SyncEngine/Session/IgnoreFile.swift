internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// `.osssyncignore` at the top of a mirrored directory: what runs skip there.
///
/// It is mirrored like any other file, so that all mirrors of a prefix share it.
enum IgnoreFile {
    static let name = RelativePath.ignoreFileName
    /// Enough for a person; every pattern is matched against every path, and anyone with write
    /// access to the bucket can write this file.
    private static let maximumSize: Int64 = 64 << 10
    /// The setting that says that a run which only receives has waited and seen the file gone.
    private static let goneSetting = "filter.gone"

    /// How long a file that hides less than before must stay unchanged.
    private static let settling = Duration.seconds(1)
    private static let maximumReadings = 10

    static var key: ObjectKey { ObjectKey(name) }

    /// Why nothing can be done while the file itself is a mount that is missing.
    static var notMounted: TransferError {
        TransferError(
            code: .refused,
            message: "'\(name)' was a mount point in the last run and is not mounted now; "
                + "nothing was transferred. Mount it, or run with --rebind if it was removed for "
                + "good"
        )
    }

    /// The rules of the file, and those that were accepted before; none if there is no such file.
    ///
    /// `sends` is true for a run that sends files.
    ///
    /// - Throws: If it is there and cannot be read or understood: a run without it could upload
    ///   what was never meant to leave the machine.
    static func rules(
        in directory: MirrorDirectory,
        _ manifest: ManifestStore,
        _ environment: EngineEnvironment,
        isRebuilt: Bool,
        records: Bool,
        sends: Bool,
        attempts: Int = maximumReadings
    ) async throws -> IgnoreRules {
        let row = try await manifest.entry(key)
        let accepted = try AcceptedRules(in: directory)
        let found: Found?
        do {
            found = try await read(in: directory, row, accepted, manifest, records: records)
        } catch let error as Unusable {
            // What is as recorded may have come from the bucket.
            guard row.map(error.mayBeContent) == true else { throw error.asTransferError }
            return IgnoreRules(
                current: try IgnoreRules.onlyIgnoreFile,
                problem: error.asTransferError
            )
        }
        let text = found?.text ?? []
        if accepted.texts.isEmpty, found == nil { return IgnoreRules() }
        let current = try FileFilter(ignoreFile: text)
        let wasGone = try await wasGone(isHere: found != nil, records, manifest)
        let content = (found?.text).map { CRC64(of: $0) }
        // The accepted patterns outlive the manifest. Without it, the origin of the file is
        // unknown, also to a later run, until it has a row.
        let isDoubtful = isRebuilt && !accepted.texts.isEmpty
        let recorded = found.flatMap { found in row.flatMap { isAsRecorded(found, $0) } }
        // A kill may have come before the row was written, or another state's run brought it.
        let isReceived =
            recorded ?? (isDoubtful || accepted.isReceived(content, found?.modified))
        guard isReceived, !accepted.texts.isEmpty else {
            if records, sends || !wasGone, try !accepted.areHidden(by: current) {
                // An editor that saves the file empties it for a moment, or takes its name away.
                guard try await stays(found?.text, in: directory, environment, attempts) else {
                    return try await rules(
                        in: directory,
                        manifest,
                        environment,
                        isRebuilt: isRebuilt,
                        records: records,
                        sends: sends,
                        attempts: attempts - 1
                    )
                }
            }
            let now = AcceptedRules([text], received: isReceived ? accepted.received : nil)
            if records, !sends, found == nil { try await manifest.setSetting(goneSetting, "1") }
            // Where the file is gone, perhaps by accident, only what sends ends the rules for good:
            // other runs may bring back one that excludes less.
            if records, sends || found != nil, accepted != now { try now.write(to: directory) }
            return IgnoreRules(current: current, text: found?.text, damaged: found?.damaged)
        }
        var now = try accepted.following(text)
        // What a run removed may have been put back.
        let isReturned = found != nil && accepted.received.map { $0.content == nil } == true
        if isDoubtful || isReturned || accepted.received?.content == content {
            now.received = .init(content: content, modified: found?.modified)
        }
        if records, now != accepted { try now.write(to: directory) }
        return IgnoreRules(
            current: current,
            text: found?.text,
            held: try filters(now.texts.filter { $0 != text }),
            damaged: found?.damaged
        )
    }

    /// True if a run that only receives has seen that the file is gone, and none has seen it since.
    private static func wasGone(
        isHere: Bool,
        _ records: Bool,
        _ manifest: ManifestStore
    ) async throws(ManifestError) -> Bool {
        guard try await manifest.setting(goneSetting) != nil else { return false }
        if isHere, records { try await manifest.setSetting(goneSetting, nil) }
        return !isHere
    }

    /// True for the recorded file, nil for other content.
    private static func isAsRecorded(_ found: Found, _ row: ManifestEntry) -> Bool? {
        isContent(found.text, of: row) ? found.modified.isCloseTo(row.localModified) : nil
    }

    static func filters(
        _ texts: [[UInt8]]
    ) throws(FileFilter.InvalidPattern) -> [FileFilter] {
        try texts.map { text throws(FileFilter.InvalidPattern) in
            try FileFilter(ignoreFile: text)
        }
    }

    /// False if the file is another one a moment later, or cannot be read or understood.
    private static func stays(
        _ text: [UInt8]?,
        in directory: MirrorDirectory,
        _ environment: EngineEnvironment,
        _ attempts: Int
    ) async throws -> Bool {
        guard attempts > 1 else { throw unsettled }
        try await environment.sleep(settling)
        do {
            return try read(in: directory)?.text == text
        } catch {
            return false
        }
    }

    private static var unsettled: TransferError {
        TransferError(
            code: .refused,
            message: "'\(name)' keeps changing; nothing was transferred. "
                + "Run again once it is saved"
        )
    }

    /// Says that it is this run that deletes the file, for its object is gone: not the user.
    static func noteRemoval(
        of key: ObjectKey = IgnoreFile.key,
        in directory: MirrorDirectory,
        _ disk: BlockingQueue
    ) async throws {
        guard isOfDirectory(key) else { return }
        try await note(.init(), of: key, in: directory, disk)
    }

    /// True for the file of this mirror, and for one that may be of a mirror within it.
    static func isOfDirectory(_ key: ObjectKey) -> Bool {
        key == Self.key || key.bytes.suffix(suffix.count).elementsEqual(suffix)
    }

    /// True for the file of this mirror, or of one within it.
    static func isOfMirror(_ key: ObjectKey, in directory: MirrorDirectory) -> Bool {
        guard key != Self.key else { return true }
        guard isOfDirectory(key) else { return false }
        let place = String(decoding: key.bytes.dropLast(name.utf8.count), as: UTF8.self)
        return GivenPath.isDirectory(
            directory.path + "/" + place + RelativePath.stateDirectoryName
        )
    }

    private static let suffix = [UInt8]("/\(name)".utf8)

    /// Says to a mirror within this one that its file will be what this run has downloaded.
    static func noteDownload(
        _ content: CRC64,
        of key: ObjectKey,
        in directory: MirrorDirectory,
        _ disk: BlockingQueue
    ) async throws(ItemFailure) {
        do {
            try await note(.init(content: content), of: key, in: directory, disk)
        } catch {
            throw ItemFailure(any: error)
        }
    }

    /// Says, durably, what a run is about to make of the file.
    private static func note(
        _ received: AcceptedRules.Received,
        of key: ObjectKey = IgnoreFile.key,
        in directory: MirrorDirectory,
        _ disk: BlockingQueue
    ) async throws {
        try await disk.run {
            guard key == Self.key else {
                let place = key.bytes.dropLast(suffix.count)
                let path = directory.path + "/" + String(decoding: place, as: UTF8.self)
                return try AcceptedRules.note(received, inMirrorAt: path)
            }
            var rules = try AcceptedRules(in: directory)
            guard rules.received != received else { return }
            rules.received = received
            try rules.write(to: directory)
        }
    }

    /// What the file says.
    private struct Found {
        var text: [UInt8]
        var file: FileIdentity?
        let modified: Timestamp
        /// The row, if the disk changed what it records; then the text is the recorded one.
        var damaged: ManifestEntry?
    }

    /// Why the file cannot be used.
    private struct Unusable: Error {
        let reason: String
        let file: FileIdentity
        /// Empty if it is too large.
        var text: [UInt8] = []
        var isTooLarge: Bool { text.isEmpty }

        func mayBeContent(of row: ManifestEntry) -> Bool {
            isTooLarge || IgnoreFile.isContent(text, of: row)
        }

        var asTransferError: TransferError { IgnoreFile.unusable(reason) }
    }

    private static func unusable(_ reason: String) -> TransferError {
        TransferError(
            code: .configuration,
            message: "'\(name)' cannot be used: \(reason). Nothing was transferred."
        )
    }

    /// Reads it; what the disk changed behind its times, or lost, is not an edit of the rules.
    private static func read(
        in directory: MirrorDirectory,
        _ row: ManifestEntry?,
        _ accepted: AcceptedRules,
        _ manifest: ManifestStore,
        records: Bool
    ) async throws -> Found? {
        let found: Found
        var problem: Unusable?
        do {
            guard let here = try read(in: directory) else {
                let unread = try await UnreadPaths(in: manifest)
                guard let row, row.isDamaged || unread.cover(key) else { return nil }
                return try recorded(row, accepted, modified: row.localModified)
            }
            found = here
        } catch let error as LocalError where records && error.isMediaFailure {
            _ = try await UnreadPaths.note([key], in: manifest)
            throw error
        } catch let error as Unusable {
            found = Found(text: error.text, file: error.file, modified: error.file.modified)
            problem = error
        }
        guard let row, isDamage(found, of: row, in: directory) else {
            if let problem { throw problem }
            return found
        }
        return try recorded(row, accepted, modified: found.modified)
    }

    private static func recorded(
        _ row: ManifestEntry,
        _ accepted: AcceptedRules,
        modified: Timestamp
    ) throws -> Found {
        guard let text = accepted.texts.last(where: { isContent($0, of: row) }) else {
            throw damaged
        }
        return Found(text: text, modified: modified, damaged: row)
    }

    private static func isDamage(
        _ found: Found,
        of row: ManifestEntry,
        in directory: MirrorDirectory
    ) -> Bool {
        guard row.crc64 != nil, !isContent(found.text, of: row), let file = found.file
        else { return false }
        let change = LocalChange(
            of: LocalEntry(path: key, kind: .file(file)),
            since: row,
            judgesInodes: (try? directory.keepsInodeNumbers()) ?? true
        )
        return [.same, .shortened].contains(change) || row.isDamaged && change == .touched
    }

    private static let damage =
        "'\(name)' is damaged: its content is not the recorded one, although its time is, or the "
        + "disk has lost it; "

    static let damagedMessage =
        damage + "the recorded rules stay in effect. 'osssync verify --repair', or 'osssync pull "
        + "--force' of it, brings it back"

    private static var damaged: TransferError {
        TransferError(
            code: .refused,
            message: damage + "nothing was transferred. Write it again, or copy it from the bucket "
                + "with 'osssync get'"
        )
    }

    private static func read(in directory: MirrorDirectory) throws -> Found? {
        let path = try RelativePath(key: key)
        let file: OpenFile
        do throws(LocalError) {
            file = try directory.openForReading(path)
        } catch {
            if case .absent = error { return nil }
            guard error.isMediaFailure else { throw unusable(error.message) }
            throw error
        }
        let identity = try file.identity()
        guard identity.size <= maximumSize else {
            throw Unusable(reason: tooLarge, file: identity)
        }
        let text = try file.read(at: 0, length: Int(identity.size))
        do throws(FileFilter.InvalidPattern) {
            _ = try FileFilter(ignoreFile: text)
        } catch {
            throw Unusable(reason: error.message, file: identity, text: text)
        }
        return Found(text: text, file: identity, modified: identity.modified)
    }

    /// What it says now; nil if it is not there.
    static func text(in directory: MirrorDirectory) throws -> [UInt8]? {
        try read(in: directory)?.text
    }

    private static let tooLarge = "it is larger than 64 KiB"

    private static func isContent(_ text: [UInt8], of row: ManifestEntry) -> Bool {
        Int64(text.count) == row.size && (row.crc64.map { $0 == CRC64(of: text) } ?? true)
    }

    /// Checks a downloaded ignore file before it gets its name.
    ///
    /// One that cannot be used would end every later run here. What passes is known as the bucket's
    /// from now on.
    static func check(
        _ partialName: String,
        in directory: MirrorDirectory,
        _ disk: BlockingQueue
    ) async throws(ItemFailure) {
        do {
            let text = try await disk.run { () throws(LocalError) -> [UInt8]? in
                guard let file = try directory.partials.open(partialName, expectedSize: nil) else {
                    return nil
                }
                let size = try file.identity().size
                return size > maximumSize ? nil : try file.read(at: 0, length: Int(size))
            }
            guard let text else { throw FileFilter.InvalidPattern(message: tooLarge) }
            _ = try FileFilter(ignoreFile: text)
            try await note(.init(content: CRC64(of: text)), in: directory, disk)
        } catch let error as FileFilter.InvalidPattern {
            // One that stays is swept by a later run.
            try? await disk.run { () throws(LocalError) in
                try directory.partials.remove(partialName)
            }
            throw unusableObject(error.message)
        } catch {
            throw ItemFailure(any: error)
        }
    }

    /// Why an object is no ignore file, before it is fetched.
    static func check(_ object: RemoteObject) throws(ItemFailure) {
        if object.size > maximumSize { throw unusableObject(tooLarge) }
    }

    private static func unusableObject(_ reason: String) -> ItemFailure {
        .local(
            message: "the bucket's ignore file cannot be used: \(reason). It was ignored, and "
                + "the rules here stay in effect; fix the object"
        )
    }
}
