package import ObjectStorage
internal import ObjectTransfer

/// Limits that everything has together whose ``ConnectionSettings/sharedLimits`` are this object.
///
/// ```swift
/// let limits = try SharedLimits(connections: 8)
/// var connection = ConnectionSettings()
/// connection.sharedLimits = limits  // of each source, target and bucket
/// ```
public final class SharedLimits: Sendable {
    /// Requests of transfers that are in flight at once; nil for no common limit.
    ///
    /// A request waits in one line with all others. A download of one request has its place until
    /// it ends. Single calls to a bucket do not wait.
    public let connections: Int?
    #if SystemLibraries
    /// Bytes that all requests together move in a second, both ways; nil for no common limit.
    ///
    /// With the trait `SystemLibraries` only: URLSession has no such limit.
    public let bandwidth: Int64?
    #endif
    let meter: BandwidthLimit?
    let limiter: ConnectionLimiter?

    #if SystemLibraries
    /// Creates limits; they hold as long as something uses them.
    ///
    /// - Throws: `TransferError` of code `configuration` for fewer than one connection or one byte,
    ///   and for more than 1,024 connections.
    public init(connections: Int? = nil, bandwidth: Int64? = nil) throws(TransferError) {
        if let bandwidth { try SettingBounds.check(bandwidth, "bandwidth", 1...Int64.max) }
        self.connections = connections
        self.bandwidth = bandwidth
        meter = bandwidth.map { BandwidthLimit($0) }
        limiter = try Self.limiter(connections)
    }
    #else
    /// Creates limits; they hold as long as something uses them.
    ///
    /// - Throws: `TransferError` of code `configuration` for fewer than one connection, and for
    ///   more than 1,024.
    public init(connections: Int? = nil) throws(TransferError) {
        self.connections = connections
        meter = nil
        limiter = try Self.limiter(connections)
    }
    #endif

    private static func limiter(_ connections: Int?) throws(TransferError) -> ConnectionLimiter? {
        guard let connections else { return nil }
        try SettingBounds.check(connections, "connections", 1...1_024)
        let environment = SystemClocks.engine(hostName: "")
        return ConnectionLimiter(
            maximum: connections,
            byteBudget: .max,
            monotonic: environment.monotonic,
            sleep: environment.sleep
        )
    }

    /// The store, whose requests wait for a place.
    func limiting(_ store: any ObjectStore) -> any ObjectStore {
        limiter.map { LimitedStore(store, $0) } ?? store
    }
}

extension SharedLimits: Hashable {
    /// True for one object only.
    public static func == (left: SharedLimits, right: SharedLimits) -> Bool { left === right }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ConnectionSettings {
    /// The same for a client; each has a bandwidth of its own, if none is shared.
    var network: NetworkSettings {
        var network = NetworkSettings.ofThisVersion
        network.connectTimeout = connectTimeout
        network.stallTimeout = stallTimeout
        network.retry.attempts = retries + 1
        network.retry.cap = longestRetryPause
        network.connectionLimit = connectionLimit
        #if SystemLibraries
        (network.caFile, network.proxy) = (caFile, proxy)
        network.bandwidth = sharedLimits?.meter ?? bandwidthLimit.map { BandwidthLimit($0) }
        #endif
        return network
    }

    /// The store, within the limits that it shares.
    func limiting(_ store: any ObjectStore) -> any ObjectStore {
        sharedLimits?.limiting(store) ?? store
    }
}

extension NetworkSettings {
    /// Those that nobody has changed.
    package static var ofThisVersion: NetworkSettings {
        var network = NetworkSettings()
        network.userAgent = "osssync/\(OSSSyncVersion.text)"
        return network
    }
}
