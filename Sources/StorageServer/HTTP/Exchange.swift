internal import SyncModel

/// One request from its first line to the end of its answer, on its connection's thread.
final class Exchange {
    private enum Phase {
        case created
        case receiving(Intake)
        case answered
    }

    private let core: ServerCore
    private let target: String
    private let connection: Connection
    private let requestID: String
    private let started = ServerCore.machineTime
    private let clearings: Int
    private let bytesSentBefore: Int64?
    private var phase = Phase.created
    private var reader: BodyReader?

    // For the log.
    private var request: Request?
    private var operation = Operation.unknown
    private var method = ""
    private var isControl = false
    private var bytesReceived: Int64 = 0
    private var status = 0
    private var errorCode: String?
    private var isAwaited = false
    private var headLength: Int64 = 0
    private var bodyLength: Int64 = 0

    init(core: ServerCore, target: String, connection: Connection) {
        self.core = core
        self.target = target
        self.connection = connection
        requestID = core.makeRequestID()
        clearings = core.log.clearings
        bytesSentBefore = connection.bytesSent
    }

    /// False ends the connection.
    func advance(method: String, bytes: UnsafeRawBufferPointer) -> Bool {
        switch phase {
        case .created:
            let intake = begin(method: method)
            phase = .receiving(intake)
            // A client that waits for leave to send its body gets the refusal instead.
            guard intake.decided != nil, intake.request.header("expect") != nil else {
                return true
            }
            return answer(intake)
        case .receiving(let intake):
            guard unsafe bytes.isEmpty else {
                bytesReceived += Int64(bytes.count)
                return unsafe intake.receive(bytes, pause: core.pause, connection: connection)
            }
            return answer(intake)
        case .answered:
            return true
        }
    }

    private func begin(method: String) -> Intake {
        self.method = method
        let known = Method(rawValue: method)
        let request = Request(
            method: known ?? .options,
            target: target,
            headers: connection.headers
        )
        self.request = request
        isControl = target.hasPrefix("/-/") && core.configuration.listenAddress.hasPrefix("127.")
        if isControl {
            return Intake(request: request, operation: .unknown, faults: ActiveFaults(effects: []))
        }
        operation = Operation(request)
        let faults = core.faults.effects(operation: operation, request: request)
        let intake = Intake(request: request, operation: operation, faults: faults)
        intake.decide(core: core)
        return intake
    }

    private func answer(_ intake: Intake) -> Bool {
        phase = .answered
        intake.end()
        if isControl {
            return send(ControlRequest(core: core, request: intake.request).answer(intake.bytes))
        }
        let faults = intake.faults
        core.pause.wait(seconds: faults.delayInSeconds)
        if faults.isHeld, let hold = faults.hold {
            beAwaited()
            hold.wait(unless: core.pause)
        }
        if let kind = faults.close(.before) { return close(kind) }
        var answer: Answer
        do {
            if let failure = faults.failure(.before) { throw failure.error }
            if let error = intake.decided { throw error }
            core.applyChanges(of: faults, to: intake.request)
            let context = OperationContext(
                core: core,
                request: intake.request,
                operation: operation,
                body: intake.takeBody(),
                faults: faults,
                checksum: intake.checksum,
                existedAtStart: intake.existedAtStart
            )
            answer = try performing(context)
            if let failure = faults.failure(.after) { throw failure.error }
        } catch let error as ServiceError {
            answer = errorAnswer(error)
        } catch {
            let message = (error as? ServerFailure)?.message ?? "\(error)"
            answer = errorAnswer(.internalError(message))
        }
        if let kind = faults.close(.after) { return close(kind) }
        return send(answer, faults: faults)
    }

    /// The content of a request that fails belongs to nobody.
    private func performing(_ context: OperationContext) throws -> Answer {
        do {
            return try context.perform()
        } catch {
            if case .blob(let blob) = context.body {
                try core.metadata.withDatabase { $0.release([blob.id]) }
            }
            throw error
        }
    }

    private func close(_ kind: CloseKind) -> Bool {
        if kind == .rst { connection.reset() }
        return false
    }

    private func errorAnswer(_ error: ServiceError) -> Answer {
        if request?.dialect == .s3 { return s3ErrorAnswer(error.inS3) }
        errorCode = error.code
        let headers = error.headers + [("x-oss-ec", error.ec)]
        if error.status == 304 { return Answer(304, headers: headers) }
        let document = error.document(
            requestID: requestID,
            host: request?.header("host") ?? "localhost"
        )
        guard method == "HEAD" else {
            return Answer(
                error.status,
                headers: [("Content-Type", "application/xml")] + headers,
                body: .bytes(document)
            )
        }
        return Answer(
            error.status,
            headers: headers + [("x-oss-err", Base64.encode(document))]
        )
    }

    private func s3ErrorAnswer(_ error: ServiceError) -> Answer {
        errorCode = error.code
        let region = ("x-amz-bucket-region", core.configuration.region)
        let headers = error.headers + (request?.bucket == nil ? [] : [region])
        if error.status == 304 || method == "HEAD" {
            return Answer(error.status, headers: headers)
        }
        let path = target.prefix { $0 != "?" }
        let document = error.s3Document(
            requestID: requestID,
            hostID: hostID,
            resource: String(path)
        )
        return Answer(
            error.status,
            headers: [("Content-Type", "application/xml")] + headers,
            body: .bytes(document)
        )
    }

    private var hostID: String { Base64.encode([UInt8](requestID.utf8)) }

    private func send(_ given: Answer, faults: ActiveFaults = ActiveFaults(effects: [])) -> Bool {
        var answer = given
        let elapsed =
            ServerCore.machineTime.nanosecondsSince1970 - started.nanosecondsSince1970
        let isS3 = request?.dialect == .s3
        answer.headers += [
            ("Server", isS3 ? "AmazonS3" : "AliyunOSS"), ("Date", CivilTime(core.now).httpText),
            ("x-oss-request-id", requestID), ("x-oss-server-time", String(elapsed / 1_000_000)),
        ]
        if isS3 {
            answer.translateToS3()
            answer.headers.append(("x-amz-id-2", hostID))
        }
        faults.rewrite(&answer)
        guard let response = makeResponse(answer, faults) else { return false }
        for header in answer.headers { response.add(header.name, header.value) }
        let ownLength = answer.headers.contains { $0.name.lowercased() == "content-length" }
        response.setFlags(hasOwnContentLength: ownLength)
        status = answer.status
        bodyLength = method == "HEAD" ? 0 : answer.body.length
        headLength = Self.headLength(answer, hasOwnContentLength: ownLength)
        // What a fault stalls can last for as long as it likes.
        if !isControl, !faults.stalls { beAwaited() }
        return connection.send(status: answer.status, response)
    }

    private func makeResponse(_ answer: Answer, _ faults: ActiveFaults) -> Response? {
        if method == "HEAD" {
            // libmicrohttpd refuses the header beside its own one.
            let told = answer.headers.last { $0.name.lowercased() == "content-length" }?.value
            return Response(
                announcing: told.flatMap { parseDecimal($0.utf8) } ?? answer.body.length
            )
        }
        if faults.touchesBody {
            let reader = BodyReader(answer.body, connection: connection, pause: core.pause)
            if let request {
                let core = core
                reader.add(faults) { core.apply($0, to: request) }
            }
            self.reader = reader
            return Response(reader: reader)
        }
        switch answer.body {
        case .empty: return Response(copying: [])
        case .bytes(let bytes): return Response(copying: bytes)
        case .content(let content, let range):
            if range.isEmpty { return Response(copying: []) }
            if let file = content.file(holding: range) {
                return Response(path: file.path, offset: file.offset, length: range.length)
            }
            return Response(
                reader: BodyReader(answer.body, connection: connection, pause: core.pause)
            )
        }
    }

    /// The bytes of the head as libmicrohttpd writes it.
    private static func headLength(_ answer: Answer, hasOwnContentLength: Bool) -> Int64 {
        let status = "HTTP/1.1 \(answer.status) \(Response.reasonPhrase(answer.status))\r\n"
        var length = status.utf8.count + "Connection: Keep-Alive\r\n\r\n".utf8.count
        for header in answer.headers {
            length += header.name.utf8.count + header.value.utf8.count + 4
        }
        if !hasOwnContentLength {
            length += "Content-Length: \(answer.body.length)\r\n".utf8.count
        }
        return Int64(length)
    }

    // MARK: - The end

    private func beAwaited() {
        guard !isAwaited else { return }
        isAwaited = true
        core.log.answering()
    }

    func finish(isComplete: Bool) {
        defer { if isAwaited { core.log.noted() } }
        guard !isControl, let request else { return }
        let part = request.parameter("partNumber").flatMap { parseDecimal($0.utf8) }
        core.log.append(
            RequestRecord(
                started: Self.seconds(started),
                finished: Self.seconds(ServerCore.machineTime),
                operation: operation.rawValue,
                method: method,
                bucket: request.bucket,
                key: request.key.map { String(decoding: $0.bytes, as: UTF8.self) },
                partNumber: part.map(Int.init),
                range: request.header("range"),
                status: status,
                errorCode: errorCode,
                bytesReceived: bytesReceived,
                bytesSent: isComplete ? bodyLength : sentOfBrokenAnswer,
                isComplete: isComplete,
                requestID: requestID
            ),
            since: clearings
        )
    }

    private var sentOfBrokenAnswer: Int64 {
        if let position = reader?.cutPosition { return position }
        guard status != 0, let before = bytesSentBefore, let now = connection.bytesSent else {
            return 0
        }
        return min(max(now - before - headLength, 0), bodyLength)
    }

    private static func seconds(_ time: Timestamp) -> Double {
        Double(time.nanosecondsSince1970 / 1_000) / 1_000_000
    }
}

extension ServiceError {
    /// The error document.
    func document(requestID: String, host: String) -> [UInt8] {
        var xml = XMLWriter(root: "Error")
        xml.element("Code", code)
        xml.element("Message", message)
        xml.element("RequestId", requestID)
        xml.element("HostId", host)
        for detail in details { xml.element(detail.name, detail.value) }
        xml.element("EC", ec)
        xml.element("RecommendDoc", "https://api.aliyun.com/troubleshoot?q=\(ec)")
        return xml.finish()
    }
}
