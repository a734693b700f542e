internal import CVirtualFiles
internal import CVirtualFilesChecks

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Checks that the virtual disk behaves as a real one, and loses what it may when its power is cut.
@main
struct VirtualFilesCheck {
    static func main() {
        #if os(Linux)
        checkRandomness()
        check_against_real_files(1, 1_000)
        check_world()
        check_rights()
        check_threads()
        check_power(1_500)
        check_power_trees(4_000)
        check_sqlite(5, 2)
        #endif
        exit(check_finish())
    }

    #if os(Linux)
    private static func checkRandomness() {
        let numbers = [1, 1, 2].map { (seed: UInt64) -> [UInt64] in
            virtual_files_set_entropy(seed)
            defer { virtual_files_clear_entropy() }
            var generator = SystemRandomNumberGenerator()
            return [generator.next(), UInt64.random(in: 0...UInt64.max)]
        }
        unsafe check_case("Swift's random numbers come of the seed", numbers[0] == numbers[1])
        unsafe check_case("another seed gives others", numbers[0] != numbers[2])
        unsafe check_case("they go on", numbers[0][0] != numbers[0][1])
    }
    #endif
}
