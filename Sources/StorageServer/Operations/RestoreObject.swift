internal import SyncModel

extension OperationContext {
    func restoreObject() throws -> Answer {
        var days: Int64 = 1
        if !bodyBytes.isEmpty {
            let document = try bodyDocument(ec: "0016-00000608")
            if let text = document.first("Days")?.text {
                guard let value = parseDecimal(text.utf8), (1...365).contains(value) else {
                    throw ServiceError.malformedXML("Days is out of range.", ec: "0016-00000608")
                }
                days = value
            }
        }
        let now = core.nowMilliseconds
        let expiry = now + days * 86_400_000
        let polls = Int64(core.configuration.restorePolls)
        let status = try core.metadata.transaction { transaction in
            let bucket = try self.bucket(transaction)
            let version = request.parameter("versionId")
            let object = try existing(transaction, bucket, key, version: version)
            guard object.storageClass.isArchived else {
                throw ServiceError(
                    400,
                    "OperationNotSupported",
                    "The operation is not supported for this resource",
                    ec: "0016-00000702"
                )
            }
            if let restore = object.restore {
                guard restore.pollsLeft == 0 else {
                    throw ServiceError(
                        409,
                        "RestoreAlreadyInProgress",
                        "The restore operation is in progress.",
                        details: [("Key", keyText)]
                    )
                }
                let longer = RestoreRecord(pollsLeft: 0, expiryMilliseconds: expiry)
                try transaction.setRestore(longer, of: object)
                return 200
            }
            let restore = RestoreRecord(pollsLeft: polls, expiryMilliseconds: expiry)
            try transaction.setRestore(restore, of: object)
            return 202
        }
        return Answer(status)
    }
}
