internal import OSSSync

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Prints what osssync costs on this machine, as whole processes beside a server on loopback.
@main
enum Bench {
    private static let runs = 5
    private static let smallFiles = 10_000
    private static let smallSize = 4 << 10

    static func main() async {
        let folder = BenchFolder()
        defer { folder.close() }
        print("median (least … most) of \(runs) runs; server on loopback, disk of /tmp")
        start(folder)
        await largeFile(folder)
        smallFilesBothWays(folder)
    }

    private static func start(_ folder: BenchFolder) {
        var figures = CostFigures()
        for _ in 0..<(4 * runs) {
            figures.add(
                ChildProcess.run(folder.programs + "/osssync", ["--version"], folder.environment)
            )
        }
        figures.print("osssync --version")
    }

    /// One GiB, pulled and as curl fetches it, in turn.
    private static func largeFile(_ folder: BenchFolder) async {
        unsafe mkdir(folder.path + "/large", 0o700)
        let block = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
        BenchFolder.write(folder.path + "/large/film", block, times: 1_024)
        let remote = "oss://\(BenchFolder.bucket)/large"
        var push = CostFigures()
        push.add(folder.osssync(["push", folder.path + "/large", remote]))
        push.print("push of 1 GiB (once)")
        guard let address = await presigned(folder, key: "large/film") else {
            fail("no URL could be signed for curl")
        }
        var pull = CostFigures()
        var curl = CostFigures()
        for _ in 0..<runs {
            let target = folder.path + "/pulled"
            pull.add(folder.osssync(["pull", target, remote]))
            folder.remove("pulled")
            let output = folder.path + "/fetched"
            curl.add(ChildProcess.run("curl", ["-sS", "-o", output, address], []))
            folder.remove("fetched")
        }
        pull.print("pull of 1 GiB")
        curl.print("curl of the same")
        let ratio = pull.processor.median / max(curl.processor.median, 0.001)
        print("  processor ratio    \(Figure(values: [ratio]).text(2))")
        folder.remove("large")
    }

    private static func presigned(_ folder: BenchFolder, key: String) async -> String? {
        let sources = ConfigurationSources(
            options: ConnectionOptions(),
            environment: folder.environmentVariables,
            homeDirectory: folder.path,
            hostName: "bench"
        )
        do {
            let remote = Remote(dialect: .oss, bucket: BenchFolder.bucket, prefix: "")
            let client = try BucketClient(remote: remote, sources: sources)
            return try await client.presignedURL(.get, key: key, lifetime: .seconds(86_400))
        } catch {
            return nil
        }
    }

    private static func smallFilesBothWays(_ folder: BenchFolder) {
        let source = folder.path + "/small"
        unsafe mkdir(source, 0o700)
        for number in 0..<smallFiles {
            if number % 100 == 0 { unsafe mkdir(source + "/d\(number / 100)", 0o700) }
            let content = (0..<smallSize).map { UInt8(truncatingIfNeeded: $0 &+ number &* 7) }
            BenchFolder.write(source + "/d\(number / 100)/f\(number)", content)
        }
        var push = CostFigures()
        var pull = CostFigures()
        var again = CostFigures()
        for run in 0..<runs {
            let remote = "oss://\(BenchFolder.bucket)/small\(run)"
            push.add(folder.osssync(["push", source, remote]))
            pull.add(folder.osssync(["pull", folder.path + "/target", remote]))
            again.add(folder.osssync(["push", source]))
            folder.remove("target")
            folder.remove("small/.osssync")
        }
        push.print("push of \(smallFiles) files of 4 KiB")
        pull.print("pull of the same")
        again.print("push again, nothing changed")
    }
}
