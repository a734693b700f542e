private let checksumPrefix = "x-amz-checksum-"

extension [(name: String, value: String)] {
    /// What is stored of an object's or upload's checksum.
    fileprivate var ofChecksum: [(name: String, value: String)] {
        filter { $0.name.hasPrefix(checksumPrefix) }
    }

    fileprivate func value(_ name: String) -> String? {
        first { $0.name == name }?.value
    }
}

extension ObjectRecord {
    var checksumHeaders: [(name: String, value: String)] {
        HeaderText.decode(headerText, beginningWith: checksumPrefix)
    }

    /// Kind and type of the stored checksum, for listings.
    var checksumKind: (algorithm: ChecksumAlgorithm, type: String)? {
        let headers = checksumHeaders
        guard !headers.isEmpty,
            let algorithm = ChecksumAlgorithm.allCases.first(where: {
                headers.value($0.headerName) != nil
            }),
            let type = headers.value("x-amz-checksum-type")
        else { return nil }
        return (algorithm, type)
    }
}

extension NewObject {
    var checksumHeaders: [(name: String, value: String)] { headers.ofChecksum }
}

extension UploadRecord {
    /// What the parts' checksums become; nil if the upload announced none.
    var checksumPlan: (algorithm: ChecksumAlgorithm, isComposite: Bool)? {
        guard let name = headers.value("x-amz-checksum-algorithm"),
            let algorithm = ChecksumAlgorithm(name: name)
        else { return nil }
        return (algorithm, headers.value("x-amz-checksum-type") != "FULL_OBJECT")
    }
}

extension OperationContext {
    /// The checksum of an answer with the whole object, if it was asked for.
    func checksumHeaders(_ object: ObjectRecord) -> [(name: String, value: String)] {
        guard dialect == .s3, request.header("x-amz-checksum-mode")?.uppercased() == "ENABLED"
        else { return [] }
        return object.checksumHeaders
    }

    /// What the beginning of an upload says of the checksums to come.
    func announcedChecksum() throws -> [(name: String, value: String)] {
        guard dialect == .s3, faults.checksums != .ignored,
            let name = request.header("x-amz-checksum-algorithm")
        else { return [] }
        guard let algorithm = ChecksumAlgorithm(name: name) else {
            throw ServiceError(
                400,
                "InvalidRequest",
                "Checksum algorithm provided is unsupported."
            )
        }
        let type = request.header("x-amz-checksum-type")?.uppercased()
        let isFull = type.map { $0 == "FULL_OBJECT" } ?? (algorithm == .crc64nvme)
        guard !isFull || algorithm.crc != nil else {
            throw ServiceError(
                400,
                "InvalidRequest",
                "The FULL_OBJECT checksum type cannot be used with the \(name) checksum algorithm."
            )
        }
        return [
            ("x-amz-checksum-algorithm", name.uppercased()),
            ("x-amz-checksum-type", isFull ? "FULL_OBJECT" : "COMPOSITE"),
        ]
    }

    /// Refuses a part with another checksum than its upload announced.
    func checkPartChecksum(_ upload: UploadRecord) throws(ServiceError) {
        guard dialect == .s3, let plan = upload.checksumPlan else { return }
        let found = checksum?.algorithm
        guard found != plan.algorithm, found != nil || plan.isComposite else { return }
        throw ServiceError(
            400,
            "InvalidRequest",
            "Checksum Type mismatch occurred, expected checksum Type: "
                + "\(plan.algorithm.rawValue), actual checksum Type: \(found?.rawValue ?? "null")"
        )
    }

    /// The checksum of a completed upload; throws if the request says another.
    func completedChecksum(
        _ upload: UploadRecord,
        _ parts: [PartRecord]
    ) throws -> (checksum: Checksum, type: String)? {
        guard let plan = upload.checksumPlan,
            let whole = Checksum.ofWhole(
                plan.algorithm,
                isComposite: plan.isComposite,
                parts: parts.map { ($0.checksum, $0.size) }
            )
        else { return nil }
        if let given = request.header(plan.algorithm.headerName), given != whole.value {
            throw ServiceError(
                400,
                "BadDigest",
                "The \(plan.algorithm.rawValue.uppercased()) you specified did not match the "
                    + "calculated checksum."
            )
        }
        return (whole, plan.isComposite ? "COMPOSITE" : "FULL_OBJECT")
    }
}
