internal import LocalStorage
internal import SyncModel

/// The walk of the directory, run ahead of its use on a thread of its own.
final class LocalScan: Sendable {
    /// Says why a directory with these tags is left out; nil if it is not.
    typealias TagQuestion = @Sendable (FoundTags) async throws -> WalkIssue.Reason?

    /// The file at a path, if it is what a run without stored links made of one; nil if it is not.
    typealias LinkQuestion = @Sendable ([UInt8]) async throws -> FileIdentity?

    /// Takes the mounts found so far, and those of them that are new.
    typealias MountNote =
        @Sendable ([[UInt8]], _ new: ArraySlice<[UInt8]>) async throws -> Void

    private static let batchesAhead = 8

    private let directory: MirrorDirectory
    private let batch: Int
    private let ranges: KeyRanges
    private let expected: [[UInt8]]
    private let tags: DirectoryTags
    private let links: LinkPolicy
    private let names: NamePolicy
    /// True if files beneath a name that no key can have are of use to the run.
    private let looksBeneathUnnamed: Bool
    private let hides: DirectoryWalk.Exclusion
    private let isExcluded: DirectoryWalk.Exclusion
    private let reasonOfTags: TagQuestion
    private let copyOfLink: LinkQuestion
    private let noteMounts: MountNote
    private let queue: BlockingQueue
    private let batches = Channel<[LocalEntry]>(capacity: batchesAhead)
    private let issues: ScanIssues
    /// What the filters leave out.
    let leftOut: LeftOutTally

    init(
        directory: MirrorDirectory,
        threads: BlockingThreads,
        batch: Int,
        within ranges: KeyRanges,
        expecting mountPoints: [[UInt8]],
        tags: DirectoryTags = DirectoryTags(),
        links: LinkPolicy = .skip,
        names: NamePolicy = .skip,
        looksBeneathUnnamed: Bool = false,
        notFollowing hides: @escaping DirectoryWalk.Exclusion = { _, _ in false },
        leavingOut isExcluded: @escaping DirectoryWalk.Exclusion,
        countingIn leftOut: LeftOutTally,
        reportingTo issues: ScanIssues,
        reasonOfTags: @escaping TagQuestion = { $0.tags.first?.reason },
        copyOfLink: @escaping LinkQuestion = { _ in nil },
        noteMounts: @escaping MountNote = { _, _ in }
    ) {
        self.directory = directory
        self.batch = batch
        self.ranges = ranges
        expected = mountPoints
        self.tags = tags
        self.links = links
        self.names = names
        self.looksBeneathUnnamed = looksBeneathUnnamed
        self.hides = hides
        self.isExcluded = isExcluded
        self.leftOut = leftOut
        self.reasonOfTags = reasonOfTags
        self.copyOfLink = copyOfLink
        self.noteMounts = noteMounts
        queue = BlockingQueue(label: "osssync.walk", width: 1, threads: threads)
        self.issues = issues
    }

    /// Walks to the end; runs beside ``next()``.
    func run() async throws {
        do {
            let batch = batch
            let walk = directory.walk(
                within: ranges,
                tags: tags,
                asksOfTags: true,
                links: links,
                names: names,
                looksBeneathUnnamed: looksBeneathUnnamed,
                notFollowing: hides,
                leavingOut: isExcluded
            )
            var noted = 0
            while true {
                let batch = try await queue.run { () throws(LocalError) in
                    try walk.next(limit: batch)
                }
                // Before anything beneath them is transferred: a run that ends early has rows of
                // what the next one may find unmounted.
                let mounts = walk.mountPoints
                if mounts.count > noted { try await noteMounts(mounts, mounts[noted...]) }
                noted = mounts.count
                for issue in batch.issues {
                    if issue.reason == .linkName, let file = try await copyOfLink(issue.path) {
                        issues.addCopy(of: issue.path, file)
                        continue
                    }
                    issues.report(issue)
                    if issue.isTag { leftOut.add(issue.path, isDirectory: true) }
                }
                if !batch.entries.isEmpty { try await batches.send(batch.entries) }
                if let question = walk.question { walk.answer(try await reasonOfTags(question)) }
                if batch.isFinished { break }
            }
            let found = walk.mountPoints
            issues.mountPoints = found
            issues.hasLostNames = walk.hasLostNames
            reportUnmounted(found)
            batches.finish()
        } catch {
            batches.finish(throwing: error)
            throw error
        }
    }

    /// What was there when the session was opened, and was not when the walk came by: the walk
    /// waits for the listing, and a disk may go meanwhile.
    private func reportUnmounted(_ found: [[UInt8]]) {
        let found = Set(found)
        for path in expected where !found.contains(path) {
            issues.report(WalkIssue(path: path, reason: .notMounted))
        }
    }

    func next() async throws -> [LocalEntry]? {
        try await batches.next()
    }
}
