internal import CLibrary
internal import Synchronization

/// What happened to one request.
package struct RequestRecord: Sendable {
    /// Seconds since 1970, by the machine's clock.
    package let started: Double
    package let finished: Double
    package let operation: String
    package let method: String
    package let bucket: String?
    package let key: String?
    package let partNumber: Int?
    /// The `Range` header as it came.
    package let range: String?
    /// 0 if there was no answer.
    package let status: Int
    /// The code of the error document.
    package let errorCode: String?
    /// Bytes of the body that arrived.
    package let bytesReceived: Int64
    /// Bytes of the body that were sent over the connection; of a connection that broke, those that
    /// had left this machine.
    package let bytesSent: Int64
    /// True if the answer went out to its end.
    package let isComplete: Bool
    package let requestID: String

    package var json: String {
        var fields = [
            "\"started\":\(started)", "\"finished\":\(finished)",
            "\"operation\":\(jsonString(operation))", "\"method\":\(jsonString(method))",
        ]
        if let bucket { fields.append("\"bucket\":\(jsonString(bucket))") }
        if let key { fields.append("\"key\":\(jsonString(key))") }
        if let partNumber { fields.append("\"part\":\(partNumber)") }
        if let range { fields.append("\"range\":\(jsonString(range))") }
        fields.append("\"status\":\(status)")
        if let errorCode { fields.append("\"error\":\(jsonString(errorCode))") }
        fields += [
            "\"bytes_received\":\(bytesReceived)", "\"bytes_sent\":\(bytesSent)",
            "\"complete\":\(isComplete)",
            "\"request_id\":\(jsonString(requestID))",
        ]
        return "{" + fields.joined(separator: ",") + "}"
    }
}

/// The requests so far, in memory and, if asked, in a file; the oldest are forgotten past a limit.
final class RequestLog: Sendable {
    private static let limit = 200_000

    private let records = SleepingLock<[RequestRecord]>([])
    /// Changes while `records` is locked.
    private let clearingCount = Atomic<Int>(0)
    /// Requests whose client may have their whole answer before they are noted.
    private let unnoted = Atomic<Int>(0)
    private let file: Int32?

    init(path: String?) throws {
        guard let path else {
            file = nil
            return
        }
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            throw ServerFailure.file(path: path, call: "open", code: errno)
        }
        file = descriptor
    }

    deinit {
        if let file { close(file) }
    }

    /// How often the log was cleared when a request begins, for ``append(_:since:)``.
    var clearings: Int { clearingCount.load(ordering: .acquiring) }

    /// Notes a request; one that began before the log was last cleared goes to the file only.
    func append(_ record: RequestRecord, since clearings: Int) {
        records.withLock { records in
            guard clearings == self.clearings else { return }
            if records.count >= Self.limit { records.removeFirst(Self.limit / 4) }
            records.append(record)
        }
        guard let file else { return }
        let line = [UInt8]((record.json + "\n").utf8)
        // A log that can't be written must not end a test server.
        _ = unsafe write(file, line, line.count)
    }

    /// An answer is about to go out; ``noted()`` follows.
    func answering() { unnoted.add(1, ordering: .acquiringAndReleasing) }

    func noted() { unnoted.subtract(1, ordering: .acquiringAndReleasing) }

    /// True if none but those that are held will be noted without a new request.
    func isSettled(except held: Int) -> Bool { unnoted.load(ordering: .acquiring) <= held }

    /// In the order in which requests began.
    ///
    /// They are noted when they end, and who has an answer may send the next one before that.
    var all: [RequestRecord] {
        records.withLock(\.self).sorted { $0.started < $1.started }
    }

    func clear() {
        records.withLock { records in
            records.removeAll()
            clearingCount.add(1, ordering: .acquiringAndReleasing)
        }
    }
}
