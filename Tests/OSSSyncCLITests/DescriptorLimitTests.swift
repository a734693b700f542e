import Testing

@testable import OSSSyncCLI

@Suite("The limit of open files")
struct DescriptorLimitTests {
    @Test func `leaves requests as asked for where it is not low`() {
        #expect(DescriptorLimit(count: 1_024).requests(of: 8) == 8)
        #expect(DescriptorLimit(count: 1_024).requests(of: 256) == 256)
    }

    @Test(arguments: [(24, 1), (32, 2), (40, 5), (48, 8), (64, 8)])
    func `makes fewer requests where it is low`(count: Int, requests: Int) {
        #expect(DescriptorLimit(count: count).problem == nil)
        #expect(DescriptorLimit(count: count).requests(of: 8) == requests)
    }

    @Test func `is a reason to begin no run where it is too low`() {
        let problem = DescriptorLimit(count: 23).problem
        #expect(problem?.contains("23") == true)
        #expect(problem?.contains("ulimit -n") == true)
    }
}
