internal import CLibrary
internal import CSystem

/// What the system reports of one watched directory.
struct ChangeReport: Sendable, Hashable {
    let watch: Int32
    private let what: Int32
    /// Nil if it is about the directory itself.
    let name: [UInt8]?

    /// A name is there that was not, or is another file now.
    var isAdded: Bool { has(OSSSYNC_CHANGE_ADDED) }
    var isRemoved: Bool { has(OSSSYNC_CHANGE_REMOVED) }
    /// Something but the content changed, such as the permissions.
    var isOfAttributes: Bool { has(OSSSYNC_CHANGE_ATTRIBUTES) }
    var isOfDirectory: Bool { has(OSSSYNC_CHANGE_IS_DIRECTORY) }
    /// The watched directory was moved or unmounted.
    var isMoved: Bool { has(OSSSYNC_CHANGE_MOVED) }
    /// Nothing more comes from this watch.
    var isEnd: Bool { has(OSSSYNC_CHANGE_ENDED) }
    /// Reports before this one are missing.
    var isOverflow: Bool { has(OSSSYNC_CHANGE_OVERFLOW) }

    private func has(_ flag: some BinaryInteger) -> Bool { what & Int32(flag) != 0 }

    fileprivate init(_ raw: osssync_change) {
        watch = unsafe raw.watch
        what = unsafe raw.what
        name = unsafe raw.name.map { name in
            let length = unsafe strlen(name)
            return unsafe [UInt8](UnsafeRawBufferPointer(start: name, count: length))
        }
    }
}

// The queue of changes in watched directories, which only Linux has.
extension SystemCalls {
    /// Room for some hundred reports.
    static let reportBufferSize = 1 << 16

    func changeQueue() throws(LocalError) -> Int32 {
        try check("inotify_init1") { osssync_change_queue() }
    }

    /// The number of the watch; that of an earlier call if the directory is watched already.
    ///
    /// A file changes with each write and each change of its attributes, or only when a program
    /// that wrote it closes it.
    func watch(
        _ directory: Int32,
        in queue: Int32,
        eachWrite: Bool
    ) throws(LocalError) -> Int32 {
        try check("inotify_add_watch") {
            osssync_watch_directory(queue, directory, eachWrite ? 1 : 0)
        }
    }

    /// A watch that has ended is not an error.
    static func unwatch(_ watch: Int32, in queue: Int32) {
        _ = osssync_unwatch(queue, watch)
    }

    /// The next reports; none if there is nothing at the moment.
    func reports(
        of queue: Int32,
        buffer: inout [UInt8]
    ) throws(LocalError) -> [ChangeReport] {
        let size = buffer.count
        let (count, code) = attempt("read") { unsafe platformRead(queue, &buffer, size) }
        if code == EAGAIN { return [] }
        guard code == 0 else { throw failure("read", code, nil) }
        var reports: [ChangeReport] = []
        unsafe buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            var offset = 0
            while offset < count {
                var raw = unsafe osssync_change()
                offset = unsafe osssync_change_at(base, offset, &raw)
                unsafe reports.append(ChangeReport(raw))
            }
        }
        return reports
    }
}
