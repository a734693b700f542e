import Glibc

@testable import ObjectStorage

/// Files of configuration in all their forms, and the answers of credentials processes: read or
/// refused, and no refusal shows what was in them.
func judgeConfiguration(_ bytes: [UInt8]) throws(FuzzFailure) {
    let form = bytes.first ?? 0
    let text = [UInt8](bytes.dropFirst())
    switch form & 7 {
    case 0, 1: try judgeINI(text, form & 1 == 0 ? .lastCounts : .refused(except: []))
    case 2: try judgeJSON(text)
    case 3: try judgeCommand(text)
    case 4: try judgeCredentials(text)
    case 5:
        try judgeFile(text) { file throws(CredentialsError) in
            let config = try OssutilConfig(file)
            _ = try config.source(profile: nil)
            _ = config.location(profile: "p", bucket: "b")
        }
    case 6:
        try judgeFile(text) { file throws(CredentialsError) in
            let config = try AliyunConfig(file)
            _ = try config.source(profile: nil)
            _ = config.location(profile: nil)
        }
    default:
        try judgeFile(text) { file throws(CredentialsError) in
            _ = try AWSProfileFile(file)
        }
    }
}

private func judgeINI(
    _ text: [UInt8],
    _ rule: INIDocument.DuplicateRule
) throws(FuzzFailure) {
    let document: INIDocument
    do throws(INIError) {
        document = try INIDocument(parsing: text, duplicates: rule)
    } catch {
        return try requirePrintable(error.message, "a refusal")
    }
    // Written with quotes where they are needed, it reads the same.
    var written = ""
    for section in document.sections {
        if !section.name.isEmpty { written += "[\(section.name)]\n" }
        for entry in section.entries {
            written += "\(entry.key) = \(INIDocument.quoted(entry.value))\n"
        }
    }
    guard let again = try? INIDocument(parsing: [UInt8](written.utf8), duplicates: rule) else {
        throw FuzzFailure("what was written again can't be read: \(written.debugDescription)")
    }
    let isSame = zip(again.sections, document.sections).allSatisfy { one, other in
        one.name == other.name
            && one.entries.map(\.value) == other.entries.map(\.value)
    }
    try require(
        isSame && again.sections.count == document.sections.count,
        "what was written again reads differently: \(written.debugDescription)"
    )
}

private func judgeJSON(_ text: [UInt8]) throws(FuzzFailure) {
    do throws(JSONFailure) {
        let value = try JSONText(parsing: text)
        _ = try value.string("AccessKeyId")
    } catch {
        try requirePrintable(error.message, "a refusal")
    }
}

private func judgeCommand(_ text: [UInt8]) throws(FuzzFailure) {
    let words: [String]
    do throws(CredentialsError) {
        words = try commandWords(String(decoding: text, as: UTF8.self))
    } catch {
        return try requirePrintable(error.message, "a refusal")
    }
    try require(!words.isEmpty, "a command without a word")
    try require(!words.contains { $0.utf8.contains(0) }, "a word with a NUL")
}

private func judgeCredentials(_ text: [UInt8]) throws(FuzzFailure) {
    let found: Credentials
    do throws(CredentialsError) {
        found = try CredentialsAnswer.credentials(of: text, source: "the test")
    } catch {
        return try requirePrintable(error.message, "a refusal")
    }
    // They go into headers.
    let token = found.securityToken?.revealedBytes ?? []
    let isPlain = (found.accessKeyID.utf8 + token).allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    try require(isPlain && !found.accessKeyID.isEmpty, "credentials with controls")
}

private func judgeFile(
    _ text: [UInt8],
    _ read: (ConfigurationFile) throws(CredentialsError) -> Void
) throws(FuzzFailure) {
    let path = temporaryPath()
    defer { unsafe unlink(path) }
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FuzzFailure("no temporary file") }
    let count = unsafe write(descriptor, text, text.count)
    close(descriptor)
    try require(count == text.count, "no room for a temporary file")
    do throws(CredentialsError) {
        guard let file = try ConfigurationFile(path: path) else {
            throw CredentialsError.absent(source: "")
        }
        try read(file)
    } catch {
        try requirePrintable(error.message, "a refusal")
    }
}

private func temporaryPath() -> String {
    let memory = unsafe access("/dev/shm", W_OK) == 0
    return (memory ? "/dev/shm" : "/tmp") + "/osssync-fuzz-\(getpid())-\(pthread_self())"
}
