import SyncModel

/// A key becomes a path beneath the directory, or is refused.
func judgeKey(_ bytes: [UInt8]) throws(FuzzFailure) {
    let key = ObjectKey(bytes)
    try requirePrintable(key.display, "a key's text")
    let path: RelativePath
    do throws(UnsafeKey) {
        path = try RelativePath(key: key)
    } catch {
        try requirePrintable(error.message, "a refusal")
        return
    }
    try require(path.key == key, "the path of \(key) has the key \(path.key)")
    try require(isBeneath(path.bytes), "\(key) leads outside")
    try require(!path.bytes.contains(0), "\(key) has a NUL")
    let first = path.bytes.prefix { $0 != UInt8(ascii: "/") }
    try require(
        String(decoding: first, as: UTF8.self).lowercased() != ".osssync",
        "\(key) reaches the state"
    )
    var depth = 0
    var next: RelativePath? = path
    while let current = next {
        depth += 1
        try require((1...255).contains(current.name.count), "\(key) has a name of no use")
        try require(depth <= RelativePath.maximumDepth, "\(key) is too deep")
        next = current.parent
    }
}

/// Walks the path as a file system does; true if it never leaves where it began.
private func isBeneath(_ path: [UInt8]) -> Bool {
    guard path.first != UInt8(ascii: "/") else { return false }
    var depth = 0
    for name in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
        if name.elementsEqual("..".utf8) { depth -= 1 } else { depth += 1 }
        if depth < 0 || name.isEmpty || name.elementsEqual(".".utf8) { return false }
    }
    return depth > 0
}
