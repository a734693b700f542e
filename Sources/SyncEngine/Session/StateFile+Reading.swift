internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer

extension StateFile {
    /// The file of this name, for messages, of which `content` reads the bytes; nil if there is
    /// none.
    ///
    /// - Throws: `localState` if it was cut short or altered.
    static func read(
        _ name: String,
        advice: String = "Restore it from a backup of the state",
        _ content: () throws(LocalError) -> [UInt8]?
    ) throws(TransferError) -> Self? {
        let bytes: [UInt8]?
        do throws(LocalError) {
            bytes = try content()
        } catch {
            throw TransferError(error)
        }
        guard let bytes else { return nil }
        guard let file = Self(content: bytes) else { throw damaged(name, advice: advice) }
        return file
    }

    static func damaged(
        _ name: String,
        advice: String = "Restore it from a backup of the state"
    ) -> TransferError {
        TransferError(
            code: .localState,
            message: "'\(name)' in the state of the mirror is damaged: it was truncated or changed;"
                + " nothing was changed. \(advice)"
        )
    }
}
