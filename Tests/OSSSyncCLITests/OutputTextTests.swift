import OSSSync
import Testing

@testable import OSSSyncCLI

@Suite("Texts of the output")
struct OutputTextTests {
    @Test(
        arguments: [
            ("'osssync log DIR 2' shows them", "'osssync log m 2' shows them"),
            ("(osssync init --rebind DIR)", "(osssync init --rebind m)"),
            (
                "run 'osssync pull DIR', or put it beneath DIR",
                "run 'osssync pull m', or put it beneath DIR"
            ),
            ("DIR is 'osssync' of DIR", "DIR is 'osssync' of DIR"),
            ("osssync restore --to PATH DIR NAME", "osssync restore --to PATH m NAME"),
        ]
    )
    func `a command in a message has the directory`(message: String, named: String) {
        #expect(namingDirectory("m", in: message) == named)
        #expect(namingDirectory(nil, in: message) == message)
        // A shell would not read it as one word, in the quotes of the message.
        for name in ["", "it's", "$HOME", "a\nb"] {
            #expect(namingDirectory(name, in: message) == message)
        }
    }

    @Test func `a directory with blanks is quoted in a command`() {
        let named = namingDirectory("my films", in: "'osssync pull DIR'")
        #expect(named == "'osssync pull \"my films\"'")
    }

    @Test(
        arguments: [
            (0, "0 B"), (1, "1 B"), (999, "999 B"), (1_000, "1.0 KiB"), (1_023, "1.0 KiB"),
            (1_024, "1.0 KiB"), (1_536, "1.5 KiB"), (102_348, "99.9 KiB"), (102_400, "100 KiB"),
            (1_023_487, "999 KiB"), (1_023_488, "1.0 MiB"), (5 << 30, "5.0 GiB"),
            (Int64.max, "8.0 EiB"), (-5, "0 B"),
        ] as [(Int64, String)]
    )
    func `sizes have three digits and a unit`(bytes: Int64, text: String) {
        #expect(sizeText(bytes) == text)
    }

    @Test(
        arguments: [
            (0, "0:00"), (7, "0:07"), (754, "12:34"), (3_600, "1:00:00"), (3_723, "1:02:03"),
            (86_400, "1d 00h"), (273_600, "3d 04h"), (-1, "0:00"),
        ] as [(Int64, String)]
    )
    func `durations look like a clock`(seconds: Int64, text: String) {
        #expect(clockText(.seconds(seconds)) == text)
    }

    @Test(arguments: [
        (0.0, "0.0 s"), (0.04, "0.0 s"), (0.05, "0.1 s"), (12.34, "12.3 s"), (59.94, "59.9 s"),
        (59.95, "1:00"), (3_723.0, "1:02:03"), (1e300, "104166666666d 16h"),
    ])
    func `what is over has tenths below a minute`(seconds: Double, text: String) {
        #expect(elapsedText(seconds) == text)
    }

    @Test(arguments: [
        (1.25, 3, "1.250"), (-1.25, 1, "-1.3"), (0.0004, 3, "0.000"), (-0.0004, 3, "0.000"),
        (7.0, 0, "7"), (9.9996, 3, "10.000"), (1e300, 3, "9e15"),
    ])
    func `decimals are rounded`(value: Double, digits: Int, text: String) {
        #expect(decimalText(value, fractionDigits: digits) == text)
    }

    @Test(arguments: [
        ("abc", 3), ("", 0), ("中文", 4), ("e\u{301}", 1), ("👩", 2), ("한글", 4), ("ﾊ", 1),
        ("Ａ", 2),
    ])
    func `wide characters take two columns and combining ones none`(text: String, width: Int) {
        #expect(displayWidth(text) == width)
    }

    @Test(arguments: [
        ("photos/a.jpg", 20, "photos/a.jpg"), ("photos/a.jpg", 9, "pho...jpg"),
        ("照片/海.jpg", 9, "照....jpg"), ("照片/海.jpg", 8, "照...jpg"), ("abcdef", 3, "..."),
        ("abcdef", 2, ".."), ("abcdef", 0, ""), ("xxae\u{301}b", 5, "xxae\u{301}b"),
        ("xxxxxxe\u{301}b", 4, "...b"), ("照片/照片/照片", 8, "照...片"),
    ])
    func `a long key keeps its beginning and its end`(text: String, width: Int, expected: String) {
        #expect(fitted(text, to: width) == expected)
        #expect(displayWidth(fitted(text, to: width)) <= width)
    }

    @Test func `JSON strings escape what JSON and terminals demand`() {
        let line: JSONLine = [
            "a": "x\"\\\n\r\t\u{1B}\u{7F}\u{85}\u{2028}é中\u{1F600}",
            "b": -5,
            "c": true,
            "d": 1.5,
            "e": Double.nan,
            "f": nil,
            "g": [[:], [:]] as [JSONLine],
        ]
        let expected =
            #"{"time":"now","a":"x\"\\\n\r\t\u001b\u007f\u0085\u2028é中😀","b":-5,"c":true,"#
            + #""d":1.500,"e":null,"g":[{},{}]}"# + "\n"
        #expect(line.line(at: "now") == expected)
    }

    @Test func `the summary says what is kept for the next run`() {
        var summary = RunSummary(direction: .pull)
        #expect(!EventText.summary(summary, isDryRun: false).contains { $0.hasPrefix("kept ") })
        (summary.stopped, summary.interrupted, summary.notTried) = ("interrupted", 2, 3)
        summary.bytesKept = 3 << 20
        let lines = EventText.summary(summary, isDryRun: false)
        #expect(lines.contains("incomplete: 2 interrupted, 3 not tried"))
        #expect(lines.contains("kept 3.0 MiB of unfinished transfers, which the next run resumes"))
    }
}
