/// The protocol spoken to a store.
@nonexhaustive
public enum StoreDialect: String, Sendable, Hashable {
    /// Alibaba Cloud OSS.
    case oss
    /// Amazon S3 and its look-alikes.
    case s3
}
