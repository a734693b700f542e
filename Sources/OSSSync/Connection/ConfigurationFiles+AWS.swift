internal import ObjectStorage

/// The files and variables of the aws tools.
extension ConfigurationFiles {
    var awsProfile: String? {
        profile ?? sources.environment["AWS_PROFILE"].flatMap { $0.isEmpty ? nil : $0 }
    }

    var awsCredentialsPath: String? {
        sources.environment["AWS_SHARED_CREDENTIALS_FILE"] ?? home(".aws/credentials")
    }

    var awsConfigPath: String? {
        sources.environment["AWS_CONFIG_FILE"] ?? home(".aws/config")
    }

    func awsConfig() throws(CredentialsError) -> AWSConfig? {
        try AWSConfig(
            credentialsPath: awsCredentialsPath,
            configPath: awsConfigPath,
            profile: awsProfile
        )
    }

    func awsCredentials() -> any ConfiguredCredentials {
        let (credentials, config) = (awsCredentialsPath, awsConfigPath)
        return FileCredentials(
            path: credentials ?? config ?? "~/.aws/credentials",
            format: .aws(credentials: credentials, config: config),
            profile: awsProfile,
            context: context
        )
    }

    /// The certificate authorities of the profile, for the S3 dialect.
    func awsCAFile() -> String? {
        // What is wrong with the files was said when the bucket's place was looked up.
        guard dialect == .s3, let config = try? awsConfig() else { return nil }
        return config.caFile
    }
}
