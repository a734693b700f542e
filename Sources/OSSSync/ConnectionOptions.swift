/// What a caller says of the connection; nil leaves it to the environment and the configuration.
public struct ConnectionOptions: Sendable, Hashable {
    /// A profile of the configuration files.
    public var profile: String?
    /// A configuration file instead of `~/.config/osssync/config`.
    public var configurationFile: String?
    /// The bucket's region, such as `cn-hangzhou`.
    public var region: String?
    /// A host or a URL without a path.
    public var endpoint: String?
    /// `virtual`, `path`, `cname` or `auto`.
    public var addressing: String?
    /// `v4` or `v1`.
    public var signature: String?
    /// Certificate authorities in PEM form instead of the system's.
    public var caFile: String?
    /// Allows plain http to other hosts than this one.
    public var allowsInsecureHTTP = false
    /// Where the state is instead of `DIR/.osssync`.
    public var stateDirectory: String?

    /// Makes options that leave everything open.
    public init() {}
}

/// Where configuration comes from: what the caller says, then the environment, then files.
public struct ConfigurationSources: Sendable {
    /// What the caller says.
    public var options: ConnectionOptions
    /// Environment variables, by name.
    public var environment: [String: String]
    /// The user's home directory; nil if there is none.
    public var homeDirectory: String?
    /// This machine's name, for the names of conflict copies.
    public var hostName: String

    /// Makes sources; the library itself never reads the process's environment.
    public init(
        options: ConnectionOptions,
        environment: [String: String],
        homeDirectory: String?,
        hostName: String
    ) {
        self.options = options
        self.environment = environment
        self.homeDirectory = homeDirectory
        self.hostName = hostName
    }
}
