internal import ObjectTransfer
public import SyncModel

/// How an upload is cut and resumed, where its record is, and what is written with the object; for
/// ``ResumableUpload``, ``TransferJob`` and ``UploadTarget``.
///
/// ```swift
/// var options = UploadOptions()
/// options.properties.contentType = "video/mp4"
/// options.recordDirectory = "records"
/// ```
public struct UploadOptions: Sendable, Hashable {
    /// What the object is written with.
    public var properties = ObjectProperties.none
    /// What happens if there is already an object with the key: it is replaced.
    public var ifExists = ExistingTarget.replace
    /// A request that OSS makes to another server once the object is stored; S3 has none.
    public var callback: UploadCallback?
    /// The app's own name for the upload, by which another process finds its record.
    ///
    /// With it, the file may be another one, and two transfers must not have the same. Nil: the
    /// record is found by the file and the object.
    public var identity: String?
    /// A directory above the file that may be moved together with it, such as an app's container.
    ///
    /// Records name the file relative to it. Nil: records have absolute paths.
    public var base: String?
    /// The preferred size of a part, in bytes; nil: files and other content of a known length go in
    /// one request up to 16 MiB (over URLSession, 4 MiB), and above that in parts of 2 MiB.
    ///
    /// With a size, what is no larger goes in one request. One request is quickest, but sends
    /// everything again if it is paused, or its process ends: specify a size where lines are slow.
    /// The size is raised to what the store takes (OSS 100 KiB, S3 5 MiB) and grows with the file,
    /// so that 10,000 parts always suffice. With another size than that of an unfinished upload,
    /// the upload starts over.
    ///
    /// Over URLSession, without the trait `SystemLibraries`, what is sent is in memory, several
    /// times over: there a part has at most 4 MiB, or 8 MiB divided by ``streams``, but never less
    /// than 1 MiB or what the store takes, as long as 10,000 such parts make the file.
    public var partSize: Int64?
    /// Parts that are sent at once: 4.
    public var streams = 4
    /// Where the record of an unfinished upload is kept, so that another process can resume it.
    ///
    /// The directory is made if it is missing, for this user alone; its parent must exist. Nil:
    /// only this instance can resume, and a process that ends leaves an unfinished upload at the
    /// store.
    public var recordDirectory: String?
    /// What happens when what was sent is of no use, because the file changed since or meanwhile,
    /// or the store has forgotten the upload: true begins again, once for each start, and says so;
    /// false is an error of code `cannotResume`, after which the next call begins again.
    public var startsOver = true
    /// Keeps the file's modification time and permissions in the object's metadata, as `mtime` and
    /// `mode`, from which a download restores them.
    public var keepsFileMetadata = true
    /// Resumes by itself after a lost connection; nil: throws an error, and the app calls
    /// ``Transfer/resume()``.
    public var reconnects: ConnectionSettings.ReconnectPolicy?
    /// The shortest time between two progresses: a tenth of a second.
    public var progressInterval = Duration.milliseconds(100)

    /// Makes the options that `osssync put` itself uses, without a record directory.
    public init() {}

    /// With parts for which there is memory.
    var bounded: UploadOptions {
        var options = self
        #if !SystemLibraries
        let share = max(1 << 20, min(Self.largestHeld, Self.mostHeld / Int64(max(1, streams))))
        if partSize != nil || preferredPartSize > share {
            options.partSize = min(preferredPartSize, share)
        }
        #endif
        return options
    }

    #if !SystemLibraries
    /// Bytes of the parts that are sent at once: with these, an upload takes 32 MiB on Linux, whose
    /// URLSession has up to six copies of a body.
    private static let mostHeld: Int64 = 8 << 20
    private static let largestHeld: Int64 = 4 << 20
    static let largestSinglePut = largestHeld
    #else
    static let largestSinglePut: Int64 = 16 << 20
    #endif

    func check(for dialect: StoreDialect) throws(TransferError) {
        try properties.checkMetadata(for: dialect)
        try check(largestPart: PartLayout.maximumPartSize)
    }
}
