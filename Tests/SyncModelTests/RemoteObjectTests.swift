import SyncModel
import Testing

@Suite("What a listing says of an object")
struct RemoteObjectTests {
    private func object(_ name: String, _ state: RestoreState?) -> RemoteObject {
        RemoteObject(
            key: "a",
            size: 1,
            etag: ETag(wire: "x"),
            storageClass: StorageClass(name: name),
            restoreState: state
        )
    }

    @Test(arguments: ["Archive", "ColdArchive", "DeepColdArchive", "GLACIER", "DEEP_ARCHIVE"])
    func `an archived object needs a restore until it is restored`(name: String) {
        #expect(object(name, nil).needsRestore)
        #expect(object(name, .ongoing).needsRestore)
        #expect(!object(name, .restored).needsRestore)
    }

    @Test(arguments: ["Standard", "IA", "STANDARD", "GLACIER_IR", "archive", "", "Unheard"])
    func `an object of another class can be read`(name: String) {
        #expect(!object(name, nil).needsRestore)
        #expect(!object(name, .ongoing).needsRestore)
    }

    @Test(
        arguments: [
            ("ongoing-request=\"true\"", RestoreState.ongoing),
            ("ongoing-request=\"false\", expiry-date=\"Fri, 02 Jan 2026 03:04:05 GMT\"", .restored),
            ("ongoing-request=\"false\"", .restored), ("", nil), ("true", nil),
            ("ongoing-request=true", nil), ("Ongoing-Request=\"true\"", nil),
        ]
    )
    func `a restore header is read`(text: String, state: RestoreState?) {
        #expect(RestoreState(headerValue: text) == state)
    }

    @Test func `kinds have the names of the wire`() {
        #expect(ObjectKind(rawValue: "Normal") == .normal)
        #expect(ObjectKind(rawValue: "Multipart") == .multipart)
        #expect(ObjectKind(rawValue: "Appendable") == .appendable)
        #expect(ObjectKind(rawValue: "Symlink") == .symlink)
        #expect(ObjectKind(rawValue: "symlink") == nil)
    }
}
