import Testing

@testable import StorageServer

@Suite("A fault script")
struct FaultScriptTests {
    private func script(_ text: String) throws -> FaultScript {
        try FaultScript(json: [UInt8](text.utf8))
    }

    @Test func `reads matches and effects`() throws {
        let script = try script(
            """
            [{"match": {"operation": "GetObject", "key": "a", "from": 3},
              "effects": [{"cut": {"at": 5, "how": "rst"}}, {"delay": 0.5}]},
             {"effect": {"listing": "tokenLoop"}}]
            """
        )
        #expect(script.rules.count == 2)
        #expect(script.rules[0].match.operation == "GetObject")
        #expect(script.rules[0].match.occurrence.includes(3))
        #expect(!script.rules[0].match.occurrence.includes(2))
        #expect(script.rules[0].effects.count == 2)
        #expect(script.rules[1].match.operation == nil)
    }

    @Test(arguments: [
        "{}", "[{}]", "[{\"effect\": {\"explode\": true}}]",
        "[{\"match\": {\"operation\": \"NoSuchOperation\"}, \"effect\": {\"delay\": 1}}]",
        "[{\"match\": {\"colour\": \"red\"}, \"effect\": {\"delay\": 1}}]",
        "[{\"effect\": {\"fail\": {\"status\": 503}}}]", "not JSON",
    ])
    func `refuses what it does not know`(text: String) {
        #expect(throws: ServerFailure.self) { try script(text) }
    }

    @Test func `counts occurrences as it says`() {
        #expect(FaultOccurrence.only(2).includes(2))
        #expect(!FaultOccurrence.only(2).includes(3))
        #expect(FaultOccurrence.first(2).includes(1))
        #expect(!FaultOccurrence.first(2).includes(3))
        #expect(FaultOccurrence.every(3).includes(6))
        #expect(!FaultOccurrence.every(3).includes(7))
    }
}
