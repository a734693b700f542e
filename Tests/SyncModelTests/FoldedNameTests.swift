import SyncModel
import Testing

@Suite("Names of several spellings")
struct FoldedNameTests {
    @Test(
        arguments: [
            "identity", "Identity", "IDENTITY. .", "\u{131}dentity", "\u{200B}identity",
            "ident\u{131}t\u{200B}y",
        ]
    )
    func `some file system takes it for the other name`(name: String) {
        #expect(FoldedName.mayBeOne([UInt8](name.utf8)[...], "identity"))
    }

    @Test(
        arguments: [
            "", "identit", "identities", "dentity.", "xidentity", "xdentity", ".identity",
            "\u{ED}dentity", "i\u{301}dentity",
        ]
    )
    func `every file system takes it for another name`(name: String) {
        #expect(!FoldedName.mayBeOne([UInt8](name.utf8)[...], "identity"))
    }

    @Test(arguments: [".osssyncignore", ".OSSSyncIgnore"])
    func `a name may begin with a dot`(name: String) {
        #expect(FoldedName.mayBeOne([UInt8](name.utf8)[...], RelativePath.ignoreFileName))
    }
}
