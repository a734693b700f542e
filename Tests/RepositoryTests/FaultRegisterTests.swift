import Testing

/// `docs/fault-register.md` names a test for each fault; a name that no test has shows nothing.
@Suite("The register of faults")
struct FaultRegisterTests {
    private func register() throws -> Register {
        try Register(path: "docs/fault-register.md", letter: "F")
    }

    @Test func `each fault stands in the register once`() throws {
        let found = try register().rows.map(\.number)
        #expect(found.count >= 246)
        #expect(zip(found, found.dropFirst()).allSatisfy(<))
    }

    @Test func `each test that the register names exists`() throws {
        for row in try register().rows {
            #expect(!row.entries.isEmpty, "\(row.number)")
            for entry in row.entries {
                let problem = try Register.problem(with: entry, of: row.number)
                #expect(problem == nil, "\(row.number): \(entry): \(problem ?? "")")
            }
        }
    }

    @Test func `a wrong entry is found`() throws {
        #expect(try Register.problem(with: "not automated: no", of: "F001") == "it says no reason")
        #expect(try Register.problem(with: "RepositoryTests/None.swift: a b c", of: "F001") != nil)
        let here = "RepositoryTests/FaultRegisterTests.swift"
        #expect(try Register.problem(with: here + ": a wrong entry is found", of: "F001") == nil)
        #expect(
            try Register.problem(with: here + ": a right " + "entry is found", of: "F001") != nil
        )
        #expect(try Register.problem(with: "FaultScripts/run: of a case's name", of: "F001") == nil)
    }
}
