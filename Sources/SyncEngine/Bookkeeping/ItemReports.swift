internal import LocalStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Counts and reports what was not done.
///
/// Apart from the executor, because what the executor uses reports, too, and must not hold it.
struct ItemReports: Sendable {
    let context: RunContext
    let ledger: RunLedger

    /// Counts and reports an item that was not done, and stops the run if nothing can be done.
    func fail(_ action: ItemAction, _ key: ObjectKey, size: Int64, _ failure: ItemFailure) {
        if [.download, .upload].contains(action), !failure.isVanished {
            context.tracker.count { $0.bytesLeft = $0.bytesLeft.addingClamped(size) }
        }
        // The run's own end says so; the item is neither failed nor done.
        guard let (state, counted, doubt) = consequences(of: failure, key) else {
            return ledger.countCancelled()
        }
        context.tracker.count { $0[keyPath: counted] += 1 }
        doubt(ledger)
        if failure.isRefusal { ledger.noteRefused(key) }
        context.keptItem(
            action,
            state,
            key,
            size: size,
            message: message(of: failure, key),
            requestID: failure.requestID
        )
        guard failure.stops else { return countStreak(failure) }
        ledger.stop(TransferError(any: failure))
    }

    /// How a failed item is counted, and what that says of the run's deletions; nil for one that
    /// was interrupted.
    private func consequences(
        of failure: ItemFailure,
        _ key: ObjectKey
    ) -> (ItemState, WritableKeyPath<RunSummary, Int>, doubt: (RunLedger) -> Void)? {
        switch failure {
        case .cancelled: nil
        case .vanished: (.skipped, \.vanished, { $0.countVanished() })
        case .nameTaken, .nameRefused,
            .targetChanged where key != IgnoreFile.key:
            // A name that cannot be here, or has another file by now, says nothing of others.
            (.skipped, \.skipped, { $0.countSkippedName(key) })
        case .sourceKeepsChanging, .sourceUnreadable:
            // A file that is there is no doubt of others, but as rules are.
            (.skipped, \.skipped, { if key == IgnoreFile.key { $0.countSkipped() } })
        case .placeRefused where key != IgnoreFile.key:
            (.failed, \.failed, { $0.countSkippedName(key) })
        case .needsRestore, .targetChanged, .objectExists, .fileExists, .tooLarge:
            (.skipped, \.skipped, { $0.countSkipped() })
        case .alreadyExists: (.skipped, \.conflicts, { $0.countFailed() })
        // What has no room is no doubt of what is to go, which perhaps makes room.
        case .diskFull,
            .storage where failure.isBucketFull:
            (.failed, \.failed, { $0.countShort() })
        case .keepsChanging, .corrupt, .contentMismatch, .cannotResume, .uploadVanished,
            .checkpointGone, .storage, .local, .placeRefused, .sourceMissing, .sourceDamaged,
            .manifest, .held:
            (.failed, \.failed, { $0.countFailed() })
        }
    }

    /// Ends the run if every item fails for the same reason.
    private func countStreak(_ failure: ItemFailure) {
        guard let cause = failure.sharedCause, context.store.failures.failed(cause) else { return }
        let end = TransferError(failure, repeated: cause)
        // In a cut mirror, another process deletes. Copies in the bucket's trash need room, too.
        let makesRoom =
            context.policy.deletes && context.shard == nil && context.options.trash != .remote
        if failure.isBucketFull, makesRoom, ledger.fullBucket == nil {
            ledger.noteFullBucket(end)
        } else {
            ledger.stop(end)
        }
    }

    /// With the filter that silences it, if only its name is in the way.
    private func message(of failure: ItemFailure, _ key: ObjectKey) -> String {
        switch failure {
        case .nameTaken, .nameRefused:
            return failure.message + (FilterHint(key, isFileOnly: true)?.text ?? "")
        case .sourceUnreadable, .sourceKeepsChanging:
            // It is a file of this directory, so that no key is beneath its name.
            return own(failure.message, key) + (FilterHint(key, isFileOnly: false)?.text ?? "")
        case .storage(_, _, _, .undecryptable):
            return failure.message + ". To replace it by the file here: "
                + "osssync push --force --on-conflict local DIR PATH"
        default:
            let message = failure.message.removing(" of '\(context.objectKey(key).display)'")
            return own(message, key)
        }
    }

    /// Without the name of the file, which stands beside it.
    private func own(_ message: String, _ key: ObjectKey) -> String {
        let name = key.bytes.split(separator: UInt8(ascii: "/")).last ?? []
        let beginning = "'\(ObjectKey([UInt8](name)).display)': "
        return message.hasPrefix(beginning)
            ? String(message.dropFirst(beginning.count)) : message
    }

    /// Counts and reports what says nothing of any other key: it holds no deletion back.
    func skipWithoutDoubt(_ key: ObjectKey, size: Int64, message: String) {
        context.tracker.count { $0.skipped += 1 }
        context.keptItem(.skip, .skipped, key, size: size, message: message)
    }

    /// The same where a name is what is wrong: only what is at or beneath it is in doubt.
    func skipName(_ key: ObjectKey, size: Int64, _ reason: SkipReason) {
        context.tracker.count { $0.skipped += 1 }
        ledger.countSkippedName(key)
        var hint = ""
        // No pattern leaves out the marker of a directory without what is in it.
        if !reason.isOfMarker {
            hint = FilterHint(key, isFileOnly: reason == .shadowedByDirectory)?.text ?? ""
        }
        context.keptItem(.skip, .skipped, key, size: size, message: reason.message + hint)
    }

    /// The same of what a link or special file hides, whose path is named with all that it hides.
    func skipReplaced(_ entry: JoinedEntry) {
        context.tracker.count { $0.skipped += 1 }
        let message = SkipReason.replaced.message
        context.journal.add(.skip, .skipped, entry.key, message)
        context.neverMirrored(
            entry.key,
            message: "skipped '\(entry.key.display)': \(message)",
            size: entry.remote?.size ?? 0
        )
    }

    func skip(_ key: ObjectKey, size: Int64, message: String) {
        context.tracker.count { $0.skipped += 1 }
        if key == IgnoreFile.key { ledger.countSkipped() }
        ledger.countSkippedName(key)
        context.keptItem(.skip, .skipped, key, size: size, message: message)
    }

    /// Counts what is skipped because no option asks for it.
    func leave(_ reason: QuietReason, _ entry: JoinedEntry, isHidden: @autoclosure () -> Bool) {
        if reason == .unchanged {
            let bytes = entry.base?.size ?? 0
            return context.tracker.count { $0.countUnchanged(1, bytes: bytes) }
        }
        guard reason.isDifference(of: entry), !isHidden() else { return }
        context.tracker.count { summary in
            switch reason {
            case .onlyLocal: summary.onlyLocal += 1
            case .onlyRemote: summary.onlyRemote += 1
            case .deletedLocally: summary.deletedHere += 1
            case .deletedRemotely: summary.deletedThere += 1
            case .notInPlan: summary.notInPlan += 1
            case .unchanged, .impliedDirectory, .emptyDirectory, .prefixItself, .reservedName,
                .hidden:
                break
            }
        }
    }

    /// Notes files that are not sent because of what the walk says of them.
    ///
    /// A directory of a name that no key can have may hold more than can be noted, most of which
    /// was never sent.
    func noteFiles(of issue: WalkIssue) {
        let isLeftOut = issue.reason == .beneathUnnamed
        for file in issue.files {
            // Caches have tags that look alike.
            let look =
                issue.isTag ? nil : RunLedger.FileLook(size: file.size, modified: file.modified)
            let key = ObjectKey(issue.path)
            ledger.noteUnsent(inode: file.inode, at: key, look, isLeftOut: isLeftOut)
        }
    }

    /// Reports what the walk could not take.
    ///
    /// Links, special files and osssync's own are never mirrored: they are counted at the end as
    /// what only the directory has. The state of a mirror within this one is named. Anything else
    /// that the walk could not read is missing from the mirror.
    func report(_ issue: WalkIssue) {
        let key = ObjectKey(issue.path)
        noteFiles(of: issue)
        switch issue.reason {
        case .nestedMirror, .state, .pseudoFileSystem:
            context.item(.skip, .skipped, key, size: 0, message: issue.message)
        case .symbolicLink, .unfollowedLink, .special, .reservedName, .noEscapedName:
            context.neverMirrored(key, message: issue.message)
        case .disappeared, .storedLink, .beneathUnnamed: break
        case .tagged(let tag):
            guard context.options.namesExcluded else { break }
            let directory = ObjectKey(issue.path + [UInt8(ascii: "/")])
            context.emit(
                .excluded(
                    key: directory.text,
                    displayKey: directory.display,
                    rule: displayText(tag.utf8)
                )
            )
        case .otherFileSystem:
            guard context.options.namesExcluded else { break }
            let directory = ObjectKey(issue.path + [UInt8(ascii: "/")])
            context.emit(
                .excluded(
                    key: directory.text,
                    displayKey: directory.display,
                    rule: "--one-file-system"
                )
            )
        case .excludedEntry: break
        case .unreadableTag: context.emit(.warning(message: issue.message))
        case .linkName, .nameNotUTF8, .tooDeep, .unreadableDirectory, .unreadableEntry,
            .changedDuringWalk, .notMounted, .freedPlace:
            context.tracker.count { $0.skipped += 1 }
            var message = issue.message
            if issue.reason == .nameNotUTF8, let hint = FilterHint(key, isFileOnly: false) {
                message += "; rename it" + hint.text
            } else if !issue.makesScanIncomplete, let hint = FilterHint(issue) {
                message += hint.text
            }
            context.keptItem(.skip, .skipped, key, size: 0, message: message)
        }
    }
}

extension ItemFailure {
    /// True if the store refuses one object, and does so again; 404, 409 and 412 are of what others
    /// do, and 408 and 429 pass.
    fileprivate var isRefusal: Bool {
        guard case .storage = self, let status = answer?.status else { return false }
        // What the bucket retains for its time.
        if answer?.code == "FileImmutable" { return true }
        return (400..<500).contains(status) && ![404, 408, 409, 412, 429].contains(status)
    }
}

extension String {
    /// Without the first occurrence of `part`.
    fileprivate func removing(_ part: String) -> String {
        guard let start = utf8.firstIndex(ofBytes: part.utf8) else { return self }
        let end = utf8.index(start, offsetBy: part.utf8.count)
        return String(self[..<start]) + String(self[end...])
    }
}
