internal import SyncModel

/// True for the ignore file, what would lie beneath it, and what a disk may take for either.
func concernsIgnoreFile(_ key: ObjectKey) -> Bool {
    guard let first = key.bytes.first, first == UInt8(ascii: ".") || first >= 0x80 else {
        return false
    }
    let name = key.bytes.prefix { $0 != UInt8(ascii: "/") }
    return FoldedName.mayBeOne(name, RelativePath.ignoreFileName)
}

/// Why the key can have no file or directory, nil if it can.
func impossibility(
    of entry: JoinedEntry,
    _ links: LinkPolicy,
    isEscaped: Bool
) -> SkipReason? {
    if entry.remote?.kind == .notEncrypted { return .notEncrypted }
    if isEscaped {
        guard let size = entry.remote?.size, size > RemoteObject.largestSize else { return nil }
        return .impossibleSize(size)
    }
    // A directory in the place of the ignore file would end every run here, and on some disks a
    // file of another spelling would be read as the rules.
    if concernsIgnoreFile(entry.key),
        !entry.key.bytes.elementsEqual(RelativePath.ignoreFileName.utf8)
    {
        return .beneathIgnoreFile
    }
    let isLink: Bool
    do {
        let path = try RelativePath(key: entry.key, links: links)
        isLink = path.isLink
        // The rules are never read over a link.
        if isLink, FoldedName.mayBeOne(path.bytes[...], RelativePath.ignoreFileName) {
            return .beneathIgnoreFile
        }
    } catch {
        return .unsafeName(error)
    }
    // A walk cannot give such a name back, so a file of that name would look deleted to a push.
    guard isValidUTF8(entry.key.bytes) else { return .notUTF8 }
    if let size = entry.remote?.size, size != 0, entry.key.isDirectoryMarker {
        return .markerWithContent(size: size)
    }
    if let size = entry.remote?.size, size > RemoteObject.largestSize {
        return .impossibleSize(size)
    }
    if isLink, let size = entry.remote?.size,
        !(1...Int64(RelativePath.maximumLinkLength)).contains(size)
    {
        return .noLinkText(size: size)
    }
    return nil
}

/// True for what a push would not touch under any name.
func isForeign(_ entry: JoinedEntry, _ policy: DecisionPolicy) -> Bool {
    policy.direction == .push && !policy.deletesExtra && entry.base == nil && entry.local == nil
}
