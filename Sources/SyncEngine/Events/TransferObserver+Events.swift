internal import ObjectTransfer
internal import SyncModel

extension TransferObserver {
    /// Reports what happens as events of a run.
    init(_ onEvent: @escaping @Sendable (SyncEvent) -> Void) {
        self.init(
            began: { counter, isResumed in
                let texts = counter.key.texts
                onEvent(
                    .item(
                        ItemEvent(
                            action: ItemAction(counter.direction),
                            state: isResumed ? .resumed : .started,
                            key: texts.text,
                            displayKey: texts.display,
                            size: counter.size,
                            bytesTransferred: 0,
                            bytesResumed: isResumed ? counter.bytesResumed : 0,
                            message: nil,
                            requestID: nil
                        )
                    )
                )
            },
            // A run reports it as bytes to transfer again.
            startedOver: { _ in },
            warned: { onEvent(.warning(message: $0)) }
        )
    }
}

extension ItemAction {
    init(_ direction: TransferDirection) {
        self = direction == .download ? .download : .upload
    }
}
