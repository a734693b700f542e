import Testing

@testable import OSSSyncCLI

@Suite("The limit of threads")
struct ThreadLimitTests {
    @Test func `is a reason to begin no run where it is too low`() {
        let problem = ThreadLimit(needed: 8, available: 7).problem
        #expect(problem?.contains("only 7 threads can be started, and a run needs 8") == true)
        #expect(ThreadLimit(needed: 8, available: 8).problem == nil)
    }

    @Test func `is tried with all threads at once, and leaves none behind`() {
        for _ in 0..<3 { #expect(ThreadLimit.tried().problem == nil) }
    }
}
