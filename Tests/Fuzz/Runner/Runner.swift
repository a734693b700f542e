import Glibc

/// libFuzzer's loop, around the target that the environment names.
///
/// The linker takes either this `main` or libFuzzer's own; both come to the same.
@main
enum Runner {
    static func main() {
        var count = CommandLine.argc
        var arguments = unsafe CommandLine.unsafeArgv
        exit(unsafe runDriver(&count, &arguments, judgeInput))
    }
}

private let target: FuzzTarget = {
    let name = unsafe getenv("OSSSYNC_FUZZ_TARGET").map { unsafe String(cString: $0) } ?? ""
    guard let target = FuzzTarget.named(name) else {
        fatalError("OSSSYNC_FUZZ_TARGET is '\(name)', which is no target")
    }
    return target
}()

@_cdecl("LLVMFuzzerTestOneInput")
func judgeInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: data, count: size))
    do throws(FuzzFailure) {
        try target.judge(bytes)
    } catch {
        fatalError(error.description)
    }
    return 0
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32
