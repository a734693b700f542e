import Testing

/// `docs/security-register.md` names tests for each item of the checklist behind `SECURITY.md`.
@Suite("The register of security items")
struct SecurityRegisterTests {
    private let register: Register

    init() throws {
        register = try Register(path: "docs/security-register.md", letter: "C")
    }

    @Test func `each item stands in the register once`() {
        let wanted = (1...36).map { $0 < 10 ? "C0\($0)" : "C\($0)" }
        #expect(register.rows.map(\.number) == wanted)
    }

    @Test func `each item has tests that exist, or a reason`() throws {
        for row in register.rows {
            #expect(!row.entries.isEmpty, "\(row.number)")
            for entry in row.entries {
                // Of these nothing is left for later.
                #expect(entry != "not yet", "\(row.number)")
                let problem = try Register.problem(with: entry, of: nil)
                #expect(problem == nil, "\(row.number): \(entry): \(problem ?? "")")
            }
        }
    }

    @Test func `what a bucket writer can do is shown by tests that exist`() throws {
        let rows = try Register(path: "SECURITY.md", letter: "W").rows
        let wanted = (1...14).map { $0 < 10 ? "W0\($0)" : "W\($0)" }
        #expect(rows.map(\.number) == wanted)
        for row in rows {
            for entry in row.entries {
                let problem = try Register.problem(with: entry, of: nil)
                #expect(problem == nil, "\(row.number): \(entry): \(problem ?? "")")
            }
        }
    }
}
