internal import CLibrary
internal import SyncModel
internal import Synchronization

/// What all connections share.
final class ServerCore: Sendable {
    let configuration: ServerConfiguration
    let authenticator: Authenticator
    let metadata: MetadataStore
    let faults = FaultEngine()
    let log: RequestLog
    let pause: Pause
    private let requestCount = Atomic<Int>(0)
    /// How often a fault script has replaced an object: no two versions in a row are alike.
    let replacementCount = Atomic<Int>(0)
    private let requestIDPrefix: String

    init(_ configuration: ServerConfiguration) throws {
        self.configuration = configuration
        authenticator = Authenticator(
            credentials: configuration.credentials,
            region: configuration.region
        )
        metadata = try MetadataStore(
            root: configuration.root,
            generated: configuration.generatedBuckets
        )
        log = try RequestLog(path: configuration.logFile)
        pause = try Pause()
        if let script = configuration.faults { faults.load(script) }
        requestIDPrefix = hexadecimal(
            (0..<6).map { _ in UInt8.random(in: 0...255) },
            uppercase: true
        )
        let versioned = configuration.versionedBuckets
        let others = configuration.buckets + configuration.generatedBuckets.map(\.name)
        for name in others + versioned {
            guard isValidBucketName(name) else { throw ServerFailure.invalidBucketName(name) }
            let milliseconds = nowMilliseconds
            try metadata.transaction { transaction in
                try transaction.createBucket(name, nowMilliseconds: milliseconds)
                if versioned.contains(name) { try transaction.setVersioning("Enabled", of: name) }
            }
        }
    }

    /// The machine's clock, corrected as configured.
    var now: Timestamp {
        let time = Self.machineTime
        return Timestamp(
            seconds: time.seconds + configuration.clockOffsetInSeconds,
            nanoseconds: time.nanoseconds
        )
    }

    var nowMilliseconds: Int64 { now.seconds * 1_000 + Int64(now.nanoseconds / 1_000_000) }

    /// Waits until the log has the requests whose answers have just arrived, or whose clients have
    /// just gone.
    ///
    /// A client has an answer's last byte before the connection's thread goes on to note it. An
    /// answer that somebody is slow to take is not waited for long.
    func settleLog() {
        for _ in 0..<20_000 where !log.isSettled(except: faults.heldCount) {
            pause.wait(seconds: 0.001)
        }
    }

    static var machineTime: Timestamp {
        var time = timespec()
        let status = unsafe clock_gettime(CLOCK_REALTIME, &time)
        precondition(status == 0, "every system has a clock")
        return Timestamp(seconds: Int64(time.tv_sec), nanoseconds: Int32(time.tv_nsec))
    }

    /// 24 upper-case hexadecimal digits.
    func makeRequestID() -> String {
        let number = requestCount.add(1, ordering: .relaxed).newValue
        let digits = String(number, radix: 16, uppercase: true)
        return requestIDPrefix + String(repeating: "0", count: max(0, 12 - digits.utf8.count))
            + digits
    }
}

/// 3 to 63 lower-case letters, digits and hyphens, no hyphen at either end.
func isValidBucketName(_ name: String) -> Bool {
    let bytes = [UInt8](name.utf8)
    guard (3...63).contains(bytes.count), bytes.first != UInt8(ascii: "-"),
        bytes.last != UInt8(ascii: "-")
    else { return false }
    return bytes.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
