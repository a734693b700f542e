package import SyncModel
internal import Synchronization

extension MirrorDirectory {
    /// A new walk from the beginning, of what has a key in `ranges`; no other directories are
    /// entered than those that lead there.
    ///
    /// A directory that has one of `tags` is left out with all it holds, and reported as an issue;
    /// but not the mirrored directory itself. With `asksOfTags`, the walk ends a batch at each such
    /// directory, and goes on once it has an answer. A link to what `hides` says is not followed.
    package func walk(
        within ranges: KeyRanges,
        tags: DirectoryTags = DirectoryTags(),
        asksOfTags: Bool = false,
        links: LinkPolicy = .skip,
        names: NamePolicy = .skip,
        notFollowing hides: @escaping DirectoryWalk.Exclusion = { _, _ in false },
        leavingOut isExcluded: @escaping DirectoryWalk.Exclusion
    ) -> DirectoryWalk {
        DirectoryWalk(
            root: root,
            path: path,
            within: ranges,
            tags: tags,
            asksOfTags: asksOfTags,
            links: links,
            names: names,
            notFollowing: hides,
            leavingOut: isExcluded
        )
    }
}

/// How a walk asks whether tags count.
extension DirectoryWalk {
    /// The tags that the walk waits to be told of; nil if it waits for nothing.
    package var question: FoundTags? { walk.withLock { $0.ordinary.question } }

    /// Says why the directory in ``question`` is left out; nil if it is not.
    package func answer(_ reason: WalkIssue.Reason?) {
        walk.withLock { $0.ordinary.answer(reason) }
    }
}

extension DirectoryWalk.State {
    mutating func answer(_ reason: WalkIssue.Reason?) {
        guard let question else { return }
        answered = (question.directory, reason)
        self.question = nil
    }

    /// True if nothing more is to be done with a directory for now: it is left out by `found`,
    /// or that is asked.
    mutating func stops(at found: FoundTags, _ batch: inout WalkBatch) -> Bool {
        let reason: WalkIssue.Reason?
        if let answered, answered.directory == found.directory {
            reason = answered.reason
            self.answered = nil
        } else if asksOfTags {
            question = found
            // It comes again.
            levels[levels.count - 1].position -= 1
            return true
        } else {
            reason = found.tags.first?.reason
        }
        guard let reason else { return false }
        batch.issues.append(WalkIssue(path: found.directory, reason: reason))
        return true
    }
}
