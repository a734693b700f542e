import Testing

/// `docs/semantics.md` names the tests that would fail without a promise.
@Suite("The promises")
struct PromiseTests {
    private let register: Register

    init() throws {
        register = try Register(path: "docs/semantics.md", letter: "I")
    }

    @Test func `are numbered`() {
        let numbers = register.rows.map(\.number)
        #expect(numbers.count >= 16)
        #expect(numbers == (1...numbers.count).map { "I\($0)" })
    }

    @Test func `have tests that exist`() throws {
        for row in register.rows {
            #expect(!row.entries.isEmpty, "\(row.number)")
            for entry in row.entries {
                #expect(!entry.hasPrefix("not "), "\(row.number): \(entry)")
                let problem = try Register.problem(with: entry, of: nil)
                #expect(problem == nil, "\(row.number): \(entry): \(problem ?? "")")
            }
        }
    }
}
