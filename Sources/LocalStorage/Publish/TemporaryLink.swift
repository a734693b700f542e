internal import SyncModel

extension MirrorDirectory {
    /// Makes the link whose text a temporary file has, under a temporary name of its own, and
    /// removes the file.
    ///
    /// - Throws: `noLinkText` for what no link can have as its text.
    func makeLink(
        of file: OpenFile,
        _ name: PartialName,
        for publication: Publication
    ) throws(LocalError) -> (name: PartialName, status: FileStatus) {
        let text = try file.read(at: 0, length: RelativePath.maximumLinkLength + 1)
        guard !text.isEmpty, text.count <= RelativePath.maximumLinkLength, !text.contains(0) else {
            throw .noLinkText(publication.path)
        }
        // What a kill leaves of the two is swept as any temporary file.
        let directory = try partials.descriptor
        let linkName = newNames.next()
        let bytes = fileName(linkName)
        try calls.makeLink(PathBytes(text), at: directory, bytes)
        try calls.setModified(at: directory, bytes, publication.modified)
        guard let status = try calls.status(at: directory, bytes) else {
            throw .unusablePartial(name: linkName.text)
        }
        try calls.unlink(at: directory, fileName(name))
        return (linkName, status)
    }
}
