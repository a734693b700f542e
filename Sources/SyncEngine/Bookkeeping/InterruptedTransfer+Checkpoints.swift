internal import SyncModel

extension InterruptedTransfer {
    init(_ checkpoint: DownloadCheckpoint) {
        self.init(
            action: .download,
            key: checkpoint.key.text,
            displayKey: checkpoint.key.display,
            size: checkpoint.size,
            bytesFinished: checkpoint.ranges.reduce(0) { $0.addingClamped($1.received) }
        )
    }

    init(_ checkpoint: UploadCheckpoint) {
        self.init(
            action: .upload,
            key: checkpoint.key.text,
            displayKey: checkpoint.key.display,
            size: checkpoint.source.size,
            bytesFinished: checkpoint.parts.reduce(0) { $0.addingClamped($1.size) }
        )
    }
}
