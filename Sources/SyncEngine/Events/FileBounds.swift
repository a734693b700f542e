internal import SyncModel
internal import SyncPlanner

/// The sizes and ages that files and objects must have to be included; nil means no limit.
///
/// Both sides of an item are judged by the same rule: if one of them is outside the bounds, the
/// item is left out, and neither transferred nor deleted. The age of a file is the time since its
/// modification, that of an object the time since it was written. Directories have no bounds.
public struct FileBounds: Sendable, Hashable {
    /// The smallest size, in bytes.
    public var minimumSize: Int64?
    /// The largest size, in bytes.
    public var maximumSize: Int64?
    /// Younger ones are left out.
    public var minimumAge: Duration?
    /// Older ones are left out.
    public var maximumAge: Duration?

    /// Leaves nothing out.
    public init() {}

    /// True if nothing can be left out.
    public var isEmpty: Bool { self == FileBounds() }

    /// The bounds as a line, for comparison with those of another run.
    var text: [UInt8] {
        guard !isEmpty else { return [] }
        let sizes = [minimumSize, maximumSize].map { $0.map { String($0) } ?? "" }
        let ages = [minimumAge, maximumAge].map { $0.map { String($0.components.seconds) } ?? "" }
        return [UInt8]("=\((sizes + ages).joined(separator: ","))\n".utf8)
    }

    /// True if the bounds may leave out a file of this size, whatever its age is.
    func mayExclude(size: Int64) -> Bool {
        minimumAge != nil || maximumAge != nil || exclusion(size, nil, Timestamp(seconds: 0)) != nil
    }

    /// The option by which one side of the item is outside the bounds; nil if it is inside.
    func exclusion(of entry: JoinedEntry, at now: Timestamp) -> StaticString? {
        guard !isEmpty, !RelativePath.isDirectory(entry.key) else { return nil }
        if let file = entry.local?.identity,
            let option = exclusion(file.size, file.modified, now)
        {
            return option
        }
        return entry.remote.flatMap { exclusion($0.size, $0.lastModified, now) }
    }

    private func exclusion(
        _ size: Int64,
        _ modified: Timestamp?,
        _ now: Timestamp
    ) -> StaticString? {
        if let minimumSize, size < minimumSize { return "--min-size" }
        if let maximumSize, size > maximumSize { return "--max-size" }
        guard let modified else { return nil }
        if let minimumAge, modified > now - minimumAge { return "--min-age" }
        if let maximumAge, modified < now - maximumAge { return "--max-age" }
        return nil
    }
}
