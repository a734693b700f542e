/// Why names are counted as ``RunSummary/notMirrored``.
package enum NotMirroredKind: String, Sendable, Hashable, CaseIterable {
    /// Symbolic links, which the options do not follow or store.
    case symbolicLink
    /// Devices, FIFOs and sockets.
    case specialFile
    /// Files of the directory with names of osssync's own.
    case reservedName
    /// Objects with such names.
    case reservedObject
    /// Recorded files in a directory that is left out because of a file in it.
    case tagged
    /// Directories that are left out because of a copy of such a file from the bucket.
    case copiedTag
}
