internal import CLibrary
package import SyncModel
internal import Synchronization

/// A private directory of small files, each replaced by one rename.
///
/// Nothing is made durable unless a call asks for it: after a power cut a file may be old, empty or
/// gone, so readers must verify its content. Every method blocks on the disk; run them on a
/// ``BlockingQueue``.
package final class RecordDirectory: Sendable {
    /// The largest file that is read.
    package static let maximumLength = 16 << 20

    private let directory: OpenDirectory
    private let calls: SystemCalls
    /// True once a power cut would not lose the directory itself.
    private let isDurable = Atomic(false)

    /// Opens the directory, making its last component if need be, for this user alone; the mode of
    /// an existing one is left as it is.
    ///
    /// - Throws: `missingParent` if its parent does not exist, `unsafeDirectory` if others may
    ///   write to it.
    package init(path: String) throws(LocalError) {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw .missingDirectory(path: displayText(path.utf8))
        }
        calls = .standard
        do throws(LocalError) {
            directory = try PrivateDirectory.open(
                at: SystemCalls.workingDirectory,
                PathBytes(path.utf8),
                path: path,
                createsIfMissing: true,
                keepsMode: true,
                calls: calls
            )
        } catch {
            guard case .missingDirectory = error else { throw error }
            throw .missingParent(path: displayText(Self.parent(of: path).utf8))
        }
    }

    private static func parent(of path: String) -> String {
        var parts = path.split(separator: "/", omittingEmptySubsequences: false)
        while parts.count > 1, parts.last == "" { parts.removeLast() }
        parts.removeLast()
        let parent = parts.joined(separator: "/")
        return parent.isEmpty ? (path.utf8.first == UInt8(ascii: "/") ? "/" : ".") : parent
    }

    /// The content of a file; nil if there is none or if it cannot be a record.
    package func read(_ name: String) throws(LocalError) -> [UInt8]? {
        try check(name)
        do throws(LocalError) {
            let file = try directory.file(PathBytes(name.utf8), name)
            let status = try file.status()
            guard status.kind == .file, status.identity.size <= Int64(Self.maximumLength) else {
                return nil
            }
            return try file.read(at: 0, length: Int(status.identity.size))
        } catch {
            switch error.errno {
            case ENOENT, ELOOP, ENXIO: return nil
            default: throw error
            }
        }
    }

    /// Puts a file in place of an older one.
    ///
    /// The name of the temporary file says of what it is: one that a killed process left is
    /// replaced. Only one caller at a time may write a file. A power cut does not lose one that is
    /// durable.
    package func write(
        _ name: String,
        _ content: [UInt8],
        isDurable: Bool = false
    ) throws(LocalError) {
        try check(name)
        let temporary = name + Self.temporarySuffix
        try calls.unlink(at: directory.descriptor, PathBytes(temporary.utf8))
        try directory.replaceFile(
            PathBytes(name.utf8),
            content,
            synchronizes: isDurable,
            by: temporary
        )
        if isDurable, !self.isDurable.exchange(true, ordering: .relaxed) {
            // A parent that is not ours may refuse that; it made this directory durable long ago.
            _ = try? synchronizeParent()
        }
    }

    private func synchronizeParent() throws(LocalError) {
        let flags = SystemCalls.directoryFlags
        try directory.file(PathBytes("..".utf8), "..", flags: flags).synchronize()
    }

    /// Removes a file; it need not exist.
    package func remove(_ name: String) throws(LocalError) {
        try check(name)
        try calls.unlink(at: directory.descriptor, PathBytes(name.utf8))
        try calls.unlink(at: directory.descriptor, PathBytes((name + Self.temporarySuffix).utf8))
    }

    /// Keeps other processes, and others in this one, from the same lock while it lives.
    ///
    /// - Throws: `lockHeld`.
    package func lock(_ name: String) throws(LocalError) -> RecordLock {
        RecordLock(try lockedFile(name), nil)
    }

    private func lockedFile(_ name: String) throws(LocalError) -> OpenFile {
        try check(name)
        let flags = SystemCalls.lockFlags
        let file = try directory.file(PathBytes(name.utf8), name, flags: flags, mode: 0o600)
        guard try calls.lockExclusively(file.descriptor) else {
            throw .lockHeld(by: "another process or part of this one")
        }
        return file
    }

    /// Keeps other transfers from the record `name` while the result lives.
    ///
    /// The lock's file is gone afterwards, unless the process is killed.
    ///
    /// - Throws: `lockHeld` if another process, or another part of this one, has the lock.
    package func lockRecord(_ name: String) throws(LocalError) -> RecordLock {
        let lockName = name + Self.lockSuffix
        while true {
            let file = try lockedFile(lockName)
            // Its last holder may have removed the file that was opened.
            guard try file.status().linkCount > 0 else { continue }
            return RecordLock(
                file,
                RecordLock.Place(directory: directory, name: lockName, calls: calls)
            )
        }
    }

    /// The same; nil if another process, or another part of this one, has the lock.
    package func lockRecordIfFree(_ name: String) throws(LocalError) -> RecordLock? {
        do throws(LocalError) {
            return try lockRecord(name)
        } catch {
            guard case .lockHeld = error else { throw error }
            return nil
        }
    }

    /// When a file was written; nil if there is none.
    package func modified(_ name: String) throws(LocalError) -> Timestamp? {
        try check(name)
        return try calls.status(at: directory.descriptor, PathBytes(name.utf8))?.identity.modified
    }

    /// Records of which a killed process left the temporary file, or one is being written.
    package func temporaryNames() throws(LocalError) -> [String] {
        try names(endingIn: Self.temporarySuffix)
    }

    /// Lock files, also of processes that run.
    package func lockedNames() throws(LocalError) -> [String] {
        try names(endingIn: Self.lockSuffix).map { String($0.dropLast(Self.lockSuffix.count)) }
    }

    private static let lockSuffix = ".lock"
    private static let temporarySuffix = ".tmp"

    /// The names of all files that end in `suffix`, in order.
    package func names(endingIn suffix: String) throws(LocalError) -> [String] {
        var names: [String] = []
        try unsafe calls.names(in: directory.descriptor) { name, _ in
            let text = unsafe String(decoding: name, as: UTF8.self)
            if text.hasSuffix(suffix), Self.isName(text) { names.append(text) }
        }
        return names.sorted()
    }

    private func check(_ name: String) throws(LocalError) {
        guard Self.isName(name) else { throw .unusablePartial(name: displayText(name.utf8)) }
    }

    /// Letters, digits, hyphens, underscores and points, none of those first.
    private static func isName(_ text: String) -> Bool {
        let first = text.utf8.first
        return first != UInt8(ascii: ".") && (1...200).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isLetterOrDigit(or: "-._") }
    }
}

/// A lock of a ``RecordDirectory``; the kernel lets go of it when its process ends.
package final class RecordLock: Sendable {
    fileprivate struct Place {
        let directory: OpenDirectory
        let name: String
        let calls: SystemCalls
    }

    private let file: OpenFile
    /// Where its file is removed at the end; nil to leave it.
    private let place: Place?
    private let isReleased = Atomic(false)

    fileprivate init(_ file: OpenFile, _ place: Place?) {
        self.file = file
        self.place = place
    }

    deinit { release() }

    /// Lets go of the lock, once.
    ///
    /// A child that was forked and did not exec yet shares the descriptor, so closing it would not
    /// be enough.
    package func release() {
        guard !isReleased.exchange(true, ordering: .relaxed) else { return }
        // A file that cannot be removed is used by the next holder.
        if let place {
            _ = try? place.calls.unlink(at: place.directory.descriptor, PathBytes(place.name.utf8))
        }
        SystemCalls.unlock(file.descriptor)
    }
}
