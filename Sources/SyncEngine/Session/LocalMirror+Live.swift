internal import LocalStorage
internal import ObjectStorage
package import ObjectTransfer

extension LocalMirror {
    /// What the run that works now shows of itself; nil without one, and in its first moment.
    ///
    /// What a killed run left is not shown: its lock is free.
    package func live() throws(TransferError) -> LiveRun? {
        do {
            let directory = try open()
            guard let content = try directory.state.read(StateFolder.liveName),
                try directory.isLocked
            else { return nil }
            return LiveRun(content: content)
        } catch {
            throw TransferError(any: error)
        }
    }

    /// True while a run works here.
    package var isLocked: Bool { (try? open().isLocked) ?? false }

    /// True while a watch is running, also between its runs.
    package var isWatched: Bool { (try? open())?.state.isWatched ?? false }

    /// The file in which a run shows itself; nil if there is no place for it.
    package func liveFile() -> LiveFile? {
        // No run needs it, and each opens the directory itself and says what is wrong.
        (try? open()).map { LiveFile(state: $0.state) }
    }
}

/// The file in which a run shows others how far it is.
///
/// No run needs it: where it cannot be written, there is none.
package struct LiveFile: Sendable {
    let state: StateFolder

    /// Shows this in place of what was shown before; blocks.
    package func show(_ run: LiveRun) {
        try? state.writeUnsynchronized(StateFolder.liveName, run.content)
    }

    /// Shows nothing any more.
    package func remove() {
        try? state.removeUnsynchronized(StateFolder.liveName)
    }
}
