/// What a source calls the parts of a key; of several names, the first that it has counts.
package struct KeyNames: Sendable, Hashable {
    let id: [String]
    let secret: [String]
    let token: [String]
    var expiration: [String] = []

    var all: [String] { id + secret + token + expiration }
}

// MARK: - Environment variables

extension KeyNames {
    package static let oss = KeyNames(
        id: ["OSS_ACCESS_KEY_ID"],
        secret: ["OSS_ACCESS_KEY_SECRET"],
        token: ["OSS_SESSION_TOKEN"]
    )
    package static let alibabaCloud = KeyNames(
        id: ["ALIBABA_CLOUD_ACCESS_KEY_ID"],
        secret: ["ALIBABA_CLOUD_ACCESS_KEY_SECRET"],
        token: ["ALIBABA_CLOUD_SECURITY_TOKEN"]
    )
    package static let aws = KeyNames(
        id: ["AWS_ACCESS_KEY_ID"],
        secret: ["AWS_SECRET_ACCESS_KEY"],
        token: ["AWS_SESSION_TOKEN"]
    )
}

// MARK: - Profiles of files, and answers

extension KeyNames {
    static let ossutilProfile = KeyNames(
        id: ["access-key-id"],
        secret: ["access-key-secret"],
        token: ["sts-token", "security-token"]
    )
    static let aliyunProfile = KeyNames(
        id: ["access_key_id"],
        secret: ["access_key_secret"],
        token: ["sts_token"]
    )
    static let awsProfile = KeyNames(
        id: ["aws_access_key_id"],
        secret: ["aws_secret_access_key"],
        token: ["aws_session_token", "aws_security_token"]
    )
    /// What processes and services hand out (oss-protocol, "Process and URI sources"): those of OSS
    /// and the metadata service, of the aliyun tool, and of the aws tools.
    static let answer = KeyNames(
        id: ["AccessKeyId", "access_key_id"],
        secret: ["AccessKeySecret", "SecretAccessKey", "access_key_secret"],
        token: ["SecurityToken", "SessionToken", "Token", "sts_token"],
        expiration: ["Expiration", "expiration"]
    )
}
