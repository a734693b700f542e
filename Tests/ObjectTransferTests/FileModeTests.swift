import ObjectTransfer
import Testing

@Suite("Modes in metadata")
struct FileModeTests {
    @Test(
        arguments: [
            (0o644, "100644"), (0o755, "100755"), (0o4755, "100755"), (0, "100000"),
            (0o777, "100777"),
        ] as [(UInt32, String)]
    )
    func `are written as rclone writes them`(permissions: UInt32, text: String) {
        #expect(FileMode.text(permissions) == text)
        #expect(FileMode.parse(text) == permissions & 0o777)
    }

    @Test(
        arguments: [
            ("0100664", 0o664), ("644", 0o644), ("0644", 0o644), ("104755", 0o755), ("0", 0),
            ("107777", 0o777),
        ] as [(String, UInt32)]
    )
    func `are read in other forms, but no special bits`(text: String, permissions: UInt32) {
        #expect(FileMode.parse(text) == permissions)
    }

    @Test(arguments: [
        "", "x", "+644", "-1", "0o644", "0x1ff", "689", "040755", "120777", "100644 ",
        "777777777777", "200644",
    ])
    func `that are no mode of a file are ignored`(text: String) {
        #expect(FileMode.parse(text) == nil)
    }
}
