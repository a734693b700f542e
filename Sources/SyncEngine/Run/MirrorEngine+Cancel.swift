internal import ManifestStore
package import ObjectTransfer
internal import SyncModel

extension MirrorEngine {
    /// Drops checkpoints: deletes partial files and aborts multipart uploads.
    ///
    /// `path` is a file or directory beneath the mirrored one; nil means all.
    ///
    /// - Throws: `SyncError`: `configuration` for a path that is neither here nor in the manifest.
    package func cancelTransfers(path: String?) async throws(SyncError) -> CancelReport {
        let session = try await MirrorSession.open(settings, locks: true, allowsRebinding: false)
        var options = RunOptions.standard
        if let path { options.paths = [path] }
        let run = try MirrorRun(
            settings: settings,
            session: session,
            direction: .pull,
            options: options,
            onEvent: { _ in }
        )
        do {
            let manifest = session.manifest
            let housekeeping = Housekeeping(context: run.parts(RunID(0)).context)
            var report = CancelReport()
            try await manifest.forEachDownload(in: run.paths.ranges) { checkpoint in
                try await housekeeping.drop(checkpoint)
                report.downloadsDropped += 1
                let bytes = InterruptedTransfer(checkpoint).bytesFinished
                report.bytesDropped = report.bytesDropped.addingClamped(bytes)
            }
            try await manifest.forEachUpload(in: run.paths.ranges) { checkpoint in
                try await housekeeping.drop(checkpoint)
                report.uploadsAborted += 1
                let bytes = InterruptedTransfer(checkpoint).bytesFinished
                report.bytesDropped = report.bytesDropped.addingClamped(bytes)
            }
            // What is unfinished may be nowhere else yet.
            if report.downloadsDropped + report.uploadsAborted == 0 {
                let disk = housekeeping.context.disk
                try await run.paths.check(session.directory, manifest, in: nil, disk)
            }
            try await manifest.checkpointAndClose()
            return report
        } catch {
            throw SyncError(any: error)
        }
    }
}
