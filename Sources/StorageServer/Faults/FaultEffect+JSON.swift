extension FaultEffect {
    /// Reads an object whose members are effects.
    static func read(_ given: FaultFields) throws(ServerFailure) -> [FaultEffect] {
        var fields = given
        var result: [FaultEffect] = []
        for name in fields.names {
            switch name {
            case "delay": result.append(.delay(seconds: try fields.seconds(name) ?? 0))
            case "slow": result.append(.slowBody(bytesPerSecond: try fields.positive(name) ?? 1))
            case "flip": result.append(.flipByte(at: try fields.integer(name) ?? 0))
            case "truncate": result.append(.truncateBody(at: try fields.integer(name) ?? 0))
            case "body": result.append(.replaceBody([UInt8]((try fields.string(name) ?? "").utf8)))
            case "status": result.append(.rewriteStatus(try fields.positive(name) ?? 200))
            case "ignoreRange":
                if try fields.bool(name) == true { result.append(.ignoreRange) }
            case "hold":
                if try fields.bool(name) == true { result.append(.hold) }
            case "holdAt": result.append(.holdBody(at: try fields.integer(name) ?? 0))
            case "abortUpload":
                if try fields.bool(name) == true { result.append(.abortUpload) }
            case "listing":
                guard let fault = try fields.choice(name, ListingFault.self) else { continue }
                result.append(.listing(fault))
            case "checksums":
                guard let fault = try fields.choice(name, ChecksumFault.self) else { continue }
                result.append(.checksums(fault))
            default:
                guard let inner = try fields.optionalFields(name) else { continue }
                result += try compound(name, inner)
            }
        }
        return result
    }

    private static func compound(
        _ name: String,
        _ given: FaultFields
    ) throws(ServerFailure) -> [FaultEffect] {
        var fields = given
        let result: [FaultEffect]
        switch name {
        case "fail": result = [.fail(try FaultFailure(&fields))]
        case "close":
            let moment = try fields.choice("when", FaultMoment.self) ?? .before
            result = [.close(moment, try fields.choice("how", CloseKind.self) ?? .fin)]
        case "cut", "cutUpload":
            let place = try fields.integer("at") ?? 0
            let kind = try fields.choice("how", CloseKind.self) ?? .fin
            result = [name == "cut" ? .cutBody(at: place, kind) : .cutUpload(at: place, kind)]
        case "stall", "stallUpload":
            let place = try fields.integer("at") ?? 0
            let seconds = try fields.seconds("seconds") ?? 3_600
            result = [
                name == "stall"
                    ? .stallBody(at: place, seconds: seconds)
                    : .stallUpload(at: place, seconds: seconds)
            ]
        case "replaceObject":
            result = [
                .replaceObject(
                    at: try fields.integer("at") ?? 0,
                    size: try fields.integer("size")
                )
            ]
        case "deleteObject": result = [.deleteObject(at: try fields.integer("at") ?? 0)]
        case "headers":
            var changes = try fields.headers("set").map {
                setHeader(name: $0.name, value: $0.value)
            }
            changes += try fields.headers("add").map { addHeader(name: $0.name, value: $0.value) }
            for value in fields.take("remove")?.array ?? [] {
                guard let header = value.string else { throw fields.wrong("remove", "names") }
                changes.append(.removeHeader(name: header))
            }
            result = changes
        default:
            throw .invalidFaultScript("\(fields.place) is no known effect")
        }
        try fields.finish()
        return result
    }
}

extension FaultFailure {
    fileprivate init(_ fields: inout FaultFields) throws(ServerFailure) {
        guard let status = try fields.positive("status"), let code = try fields.string("code")
        else {
            throw .invalidFaultScript("\(fields.place) needs a status and a code")
        }
        self.init(status: status, code: code)
        if let message = try fields.string("message") { self.message = message }
        if let ec = try fields.string("ec") { self.ec = ec }
        headers = try fields.headers("headers")
        if let seconds = try fields.integer("retryAfter") {
            headers.append(("Retry-After", String(seconds)))
        }
        if let moment = try fields.choice("when", FaultMoment.self) { self.moment = moment }
    }
}
