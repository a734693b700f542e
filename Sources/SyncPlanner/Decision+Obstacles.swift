internal import SyncModel

func isBeneathIgnoreFile(_ key: ObjectKey) -> Bool {
    key.bytes.first == UInt8(ascii: ".") && key.bytes.starts(with: ".osssyncignore/".utf8)
}

/// Why the key can have no file or directory, nil if it can.
func impossibility(
    of entry: JoinedEntry,
    _ links: LinkPolicy,
    isEscaped: Bool
) -> SkipReason? {
    if isEscaped {
        guard let size = entry.remote?.size, size > RemoteObject.largestSize else { return nil }
        return .impossibleSize(size)
    }
    // A directory in the place of the ignore file would end every run here.
    if entry.remote != nil, isBeneathIgnoreFile(entry.key) { return .beneathIgnoreFile }
    let isLink: Bool
    do {
        let path = try RelativePath(key: entry.key, links: links)
        isLink = path.isLink
        // The rules are never read over a link.
        if isLink, path.bytes.elementsEqual(".osssyncignore".utf8) { return .beneathIgnoreFile }
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
