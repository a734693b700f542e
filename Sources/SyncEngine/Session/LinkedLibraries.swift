internal import ManifestStore

#if SystemLibraries
internal import ObjectStorage
#endif

/// The libraries that read what strangers write, as they are on this machine.
package enum LinkedLibraries {
    /// A name with a version each, in the form that the library gives it.
    package static var versions: [String] {
        #if SystemLibraries
        [sqliteVersion, curlVersion, expatVersion]
        #else
        [sqliteVersion]
        #endif
    }
}
