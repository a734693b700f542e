// `environ` is a mutable variable of C. It is read once, before any second thread exists.
#if canImport(Glibc)
@unsafe @preconcurrency internal import Glibc
#else
@unsafe @preconcurrency internal import Darwin
#endif

/// What the process was started with.
enum ProcessEnvironment {
    /// The environment variables; of two with one name the first counts, as for `getenv`.
    static func variables() -> [String: String] {
        var result: [String: String] = [:]
        var cursor = unsafe environ
        while let entry = unsafe cursor.pointee {
            let text = unsafe String(cString: entry)
            if let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")) {
                let name = String(text[..<sign])
                if result[name] == nil {
                    result[name] = String(text[text.utf8.index(after: sign)...])
                }
            }
            unsafe cursor += 1
        }
        return result
    }

    /// The arguments after the program's name.
    ///
    /// Swift replaces bytes that are not UTF-8, which would name a different file.
    static func arguments() throws(UsageError) -> [String] {
        var arguments: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let pointer = unsafe CommandLine.unsafeArgv[index] else { break }
            guard let text = unsafe String(validatingCString: pointer) else {
                throw .notUnicode(position: index)
            }
            arguments.append(text)
        }
        return arguments
    }
}
