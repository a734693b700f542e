public import Foundation
public import OSSTransfer
internal import SyncModel

extension Transfer {
    /// A `Progress` that follows the transfer until it stops, and by which it is paused, resumed
    /// and cancelled.
    ///
    /// Its unit is the byte; a finished transfer of an empty object counts as one of one. It has
    /// finished when the transfer has; after a pause or a failure it
    /// stays where it is, and follows again once `Transfer.resume()` was called on it, not on the
    /// transfer. Cancelling it deletes what is unfinished, as `Transfer.cancel(keepingParts:)`.
    public func makeProgress() -> Progress {
        let progress = Progress(totalUnitCount: -1)
        progress.kind = .file
        progress.isPausable = true
        progress.pausingHandler = { [weak self] in self?.pause() }
        progress.cancellationHandler = { [weak self] in self?.cancel() }
        progress.resumingHandler = { [weak self, weak progress] in
            guard let self, let progress else { return }
            resume()
            follow(with: progress)
        }
        follow(with: progress)
        return progress
    }

    private func follow(with progress: Progress) {
        let sequence = self.progress
        starting { [weak progress] in
            for await step in sequence {
                guard let progress else { return }
                progress.totalUnitCount = step.totalBytes
                progress.completedUnitCount = step.completedBytes
            }
            // A `Progress` of 0 of 0 never finishes.
            guard let progress, self.state == .finished, progress.totalUnitCount == 0 else {
                return
            }
            progress.totalUnitCount = 1
            progress.completedUnitCount = 1
        }
    }
}
