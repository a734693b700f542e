import Foundation
import Testing

@Suite("Runs that start by themselves", .serialized)
struct ScheduleTests {
    private let workplace: Workplace
    private let tree: Tree
    /// What the programs that keep schedules were asked.
    private let record: String
    private let path: [String: String]
    private var unitFolder: String {
        workplace.folder.appendingPathComponent("home").path + "/.config/systemd/user"
    }

    /// Programs in place of systemctl and crontab, which would change this machine.
    init() throws {
        workplace = try Workplace()
        tree = try workplace.makeDirectory("my 100% photos")
        record = workplace.folder.path + "/record"
        let bin = try workplace.makeDirectory("bin")
        let table = workplace.folder.path + "/table"
        let scripts = [
            "systemctl": "echo \"$@\" >> '\(record)'",
            "crontab": """
            if [ "$1" = - ]; then cat > '\(table)'; exit; fi
            if [ -e '\(table)' ]; then cat '\(table)'; exit; fi
            echo "No crontab for me" >&2; exit 1
            """,
        ]
        for (name, script) in scripts {
            try bin.write(name, Data("#!/bin/sh\n\(script)\n".utf8))
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755],
                ofItemAtPath: bin.path + "/" + name
            )
        }
        path = ["PATH": bin.path + ":/usr/bin:/bin"]
        try FileManager.default.createDirectory(
            atPath: workplace.folder.path + "/home",
            withIntermediateDirectories: true
        )
        try tree.write("a", ramp(10))
        try #require(try workplace.run("push", tree.path, workplace.remote).status == 0)
    }

    private func schedule(_ arguments: String...) throws -> ProgramResult {
        try schedule(arguments)
    }

    private func schedule(_ arguments: [String]) throws -> ProgramResult {
        try workplace.start(["schedule"] + arguments + [tree.path], environment: path).finish()
    }

    private func units() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: unitFolder).sorted()
    }

    @Test func `what every run would refuse is not scheduled`() throws {
        let state = workplace.folder.path + "/state-of-etc"
        func schedule(_ arguments: [String]) throws -> ProgramResult {
            try workplace.start(
                ["schedule", "--daily", "02:30"] + arguments + ["/etc"],
                environment: path
            ).finish()
        }
        for arguments in [
            ["--pull", "--state-dir", state], ["--sync", "--state-dir", state, "--install"],
            ["--push"],
        ] {
            let refused = try schedule(arguments)
            #expect(refused.status == 3 && refused.output.isEmpty, "\(arguments)")
            #expect(refused.diagnostics.contains("'/etc' is not mirrored"))
        }
        #expect(try schedule(["--push", "--state-dir", state]).status == 0)
        #expect(!FileManager.default.fileExists(atPath: state))
    }

    @Test func `units of systemd are printed, installed, started and removed`() throws {
        let printed = try schedule("--push", "--daily", "02:30")
        #expect(printed.status == 0, "\(printed.diagnostics)")
        #expect(printed.output.contains("\nOnCalendar=*-*-* 02:30:00\nPersistent=true\n"))
        #expect(printed.output.contains("my 100%% photos\"\n"))
        #expect(!FileManager.default.fileExists(atPath: record))

        let installed = try schedule("--push", "--every", "1h", "--install")
        #expect(installed.status == 0, "\(installed.diagnostics)")
        let names = try units()
        #expect(names.count == 2)
        let timer = try #require(names.last)
        #expect(installed.output.hasPrefix("installed \(timer) in "))
        let content = try String(
            contentsOfFile: unitFolder + "/" + timer,
            encoding: .utf8
        )
        #expect(content.contains("\nOnCalendar=0/1:00\n"))
        #expect(try schedule("--push", "--test").status == 0)
        let list = try schedule("--list")
        #expect(
            list.output == """
                not active  push of \(tree.path)
                    "\(BuiltProducts.osssync.resolvingSymlinksInPath().path)" "push" "--quiet" \
                "--if-locked" "skip" "\(tree.path)"

                """
        )
        let removed = try schedule("--push", "--remove")
        #expect(removed.output == "removed \(timer.dropLast(6))\n")
        #expect(try units().isEmpty)
        let service = "\(timer.dropLast(6)).service"
        #expect(
            try String(contentsOfFile: record, encoding: .utf8) == """
                --user daemon-reload
                --user enable --now \(timer)
                --user start --wait \(service)
                --user show --property=NextElapseUSecRealtime --value \(timer)
                --user disable --now \(timer)
                --user daemon-reload

                """
        )
        let again = try schedule("--push", "--remove")
        #expect(again.status == 1)
        #expect(again.diagnostics.contains("has no schedule for push"))
    }

    @Test func `what the run will lack is said when it is installed`() throws {
        let keys = try schedule("--push", "--every", "1h", "--install")
        #expect(keys.status == 0)
        let warning = "warning: without the environment of this shell, the run would fail: no cred"
        #expect(keys.diagnostics.contains(warning), "\(keys.diagnostics)")
        let home = Tree(workplace.folder.appendingPathComponent("home"))
        try home.write(
            ".config/osssync/config",
            Data("[default]\naccess-key-id = a\naccess-key-secret = b\n".utf8)
        )
        let file = home.path + "/.config/osssync/config"
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        #expect(try schedule("--push", "--every", "1h", "--install").diagnostics.isEmpty)
        let other = try workplace.makeDirectory("other")
        let line = ["schedule", "--push", "--every", "1h", "--install", other.path]
        for (direction, place) in [("--push", "beside"), ("--pull", "oss://b/old"), ("--pull", "")]
        {
            let wrong = try schedule(direction, "--every", "1h", "--backup-dir", place)
            #expect(wrong.status == 2, "\(direction) \(place): \(wrong.output)")
        }
        let unlinked = try workplace.start(line, environment: path).finish()
        #expect(unlinked.diagnostics.contains("is not linked"), "\(unlinked.diagnostics)")
    }

    @Test func `the mirrors of the account are listed, with what starts their runs`() throws {
        func mirrors(_ arguments: String...) throws -> ProgramResult {
            try workplace.start(["mirrors"] + arguments, environment: path).finish()
        }
        let other = try workplace.makeDirectory("other")
        try #require(try workplace.run("init", other.path, workplace.remote).status == 0)
        try #require(try schedule("--push", "--every", "1h", "--install").status == 0)
        let plain = try mirrors()
        let lines = plain.output.split(separator: "\n")
        #expect(plain.status == 0 && lines.count == 3, "\(plain.output)")
        #expect(lines[1].hasPrefix("complete  0 min ago  yes      "), "\(lines)")
        #expect(lines[1].hasSuffix("\(tree.path) -> \(workplace.remote)/"), "\(lines)")
        #expect(lines[2].hasPrefix("no run    never      -        "), "\(lines)")
        let old = try mirrors("--max-age", "26h", "--json")
        #expect(old.status == 1 && old.output.contains("\"too_old\":true"), "\(old.output)")
        #expect(try workplace.run("init", "--unlink", other.path).status == 0)
        #expect(try mirrors("--max-age", "26h").status == 0)
        let checked = try workplace.start(["doctor", "--all"], environment: path).finish()
        #expect(checked.status == 0 && checked.output.hasPrefix("\(tree.path):\n"))
        try FileManager.default.removeItem(atPath: tree.path)
        #expect(try mirrors("--json").output.contains("\"state\":\"gone\""))
        #expect(try mirrors("--max-age", "26h").status == 1)
        #expect(try workplace.start(["status", "--all"], environment: path).finish().status == 1)
    }

    @Test func `the doctor shows what starts runs of the directory`() throws {
        func timers() throws -> [String] {
            let doctor = try workplace.start(["doctor", tree.path], environment: path).finish()
            let lines = doctor.output.split(separator: "\n").filter { $0.contains(" timer: ") }
            return lines.map { String($0) }
        }
        #expect(
            try timers()
                == ["ok     timer: none for this directory; 'osssync schedule' creates one"]
        )
        #expect(!FileManager.default.fileExists(atPath: unitFolder))
        try #require(try schedule("--push", "--every", "1h", "--install").status == 0)
        let timer = try #require(try units().last)
        // The stand-in of systemctl makes no link.
        let disabled = "it is not enabled; run: systemctl --user enable --now \(timer)"
        #expect(try timers() == ["note   timer: push by \(timer): \(disabled)"])
        try #require(
            try schedule("--pull", "--daily", "02:30", "--format", "cron", "--install").status == 0
        )
        let wants = unitFolder + "/timers.target.wants"
        try FileManager.default.createDirectory(
            atPath: wants,
            withIntermediateDirectories: true
        )
        try FileManager.default.createSymbolicLink(
            atPath: wants + "/" + timer,
            withDestinationPath: "../" + timer
        )
        let both = try timers()
        #expect(both.last == "ok     timer: pull by the crontab")
        #expect(both.count == 2 && !both[0].contains(disabled), "\(both)")
        #expect(both.first?.contains("push by \(timer)") == true)
    }

    @Test func `what is installed is listed without the user's manager`() throws {
        let bin = try workplace.makeDirectory("failing")
        try bin.write("systemctl", Data("#!/bin/sh\nexit 1\n".utf8))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755],
            ofItemAtPath: bin.path + "/systemctl"
        )
        func list() throws -> ProgramResult {
            try workplace.start(
                ["schedule", "--list"],
                environment: ["PATH": bin.path + ":/usr/bin:/bin"]
            ).finish()
        }
        let none = try list()
        #expect(none.status == 0)
        #expect(none.output.hasPrefix("no schedules are installed"))
        try #require(try schedule("--push", "--every", "1h", "--install").status == 0)
        let listed = try list()
        #expect(listed.status == 0)
        #expect(listed.output.hasPrefix("not known  push of \(tree.path)\n"))
    }

    @Test func `units that cannot be started are not left behind`() throws {
        let bin = try workplace.makeDirectory("failing")
        try bin.write("systemctl", Data("#!/bin/sh\nexit 1\n".utf8))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755],
            ofItemAtPath: bin.path + "/systemctl"
        )
        let failed = try workplace.start(
            ["schedule", "--push", "--every", "1h", "--install", tree.path],
            environment: ["PATH": bin.path + ":/usr/bin:/bin"]
        ).finish()
        #expect(failed.status == 5)
        #expect(try units().isEmpty)
    }

    @Test func `a line of cron is installed, run and removed beside others`() throws {
        let table = workplace.folder.path + "/table"
        try "5 4 * * * other\n".write(toFile: table, atomically: false, encoding: .utf8)
        for time in ["15m", "6h"] {
            let run = try schedule("--push", "--every", time, "--install", "--format", "cron")
            #expect(run.status == 0, "\(run.diagnostics)")
        }
        let lines = try String(contentsOfFile: table, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.first == "5 4 * * * other")
        #expect(lines.last?.hasPrefix("0 */6 * * * sleep $(( ") == true)
        #expect(lines.last?.hasSuffix(#"my 100\% photos'"#) == true)
        let list = try schedule("--list", "--format", "cron")
        let listed = list.output.split(separator: "\n")
        #expect(listed.count == 2 && listed.last?.hasPrefix("times: local time, ") == true)
        // Without the environment of a login, there are no credentials.
        let tested = try schedule("--push", "--test", "--format", "cron")
        #expect(tested.status == 5)
        #expect(tested.diagnostics.contains("credentials"), "\(tested.diagnostics)")
        #expect(try schedule("--push", "--remove", "--format", "cron").status == 0)
        #expect(try String(contentsOfFile: table, encoding: .utf8) == "5 4 * * * other\n")
        #expect(try schedule("--push", "--test", "--format", "cron").status == 1)
    }

    @Test func `a line that is not of osssync is never removed`() throws {
        let table = workplace.folder.path + "/table"
        let cron = ["--push", "--format", "cron"]
        #expect(try schedule(cron + ["--every", "1h", "--install"]).status == 0)
        let lines = try String(contentsOfFile: table, encoding: .utf8).split(separator: "\n")
        let edited = String(lines[0]) + "\n5 4 * * * backup\n"
        try edited.write(toFile: table, atomically: false, encoding: .utf8)
        for action in [["--remove"], ["--every", "1h", "--install"]] {
            let refused = try schedule(cron + action)
            #expect(refused.status == 5)
            #expect(refused.diagnostics.contains("'5 4 * * * backup' is after the comment"))
            #expect(try String(contentsOfFile: table, encoding: .utf8) == edited)
        }
    }

    @Test func `options of the run are in what is installed`() throws {
        let log = workplace.folder.path + "/photos.log"
        let table = workplace.folder.path + "/table"
        let cron = ["--push", "--format", "cron"]
        let options = ["--log-file", log, "--max-delete", "5%"]
        let installed = try schedule(cron + options + ["--daily", "02:30", "--install"])
        #expect(installed.output.contains("; it starts every day at 02:30 (local time, "))
        let line = try String(contentsOfFile: table, encoding: .utf8)
        #expect(line.contains(#" '--max-delete' '5\%' '--log-file' '\#(log)' '"#), "\(line)")
        #expect(try schedule(cron + ["--test"]).status == 5)
        let said = try String(contentsOfFile: log, encoding: .utf8)
        #expect(said.contains("credentials"), "\(said)")
        for (wrong, reason) in [
            (["--log-file", tree.path + "/log"], "a push would upload it"),
            (["--max-delete", "x"], "expected a number"), (["--dry-run"], "is not an option"),
        ] {
            let refused = try schedule(cron + wrong + ["--daily", "02:30"])
            #expect(refused.status == 2)
            #expect(refused.diagnostics.contains(reason), "\(refused.diagnostics)")
        }
    }

    @Test func `a crontab that cannot be read is not replaced`() throws {
        let table = workplace.folder.path + "/table"
        let cron = ["--push", "--format", "cron"]
        #expect(try schedule(cron + ["--list"]).status == 0, "there is none")
        #expect(try schedule(cron + ["--every", "1h", "--install"]).status == 0)
        for content in [nil, Data([0xE4, 0x0A])] {
            try FileManager.default.removeItem(atPath: table)
            if let content {
                try content.write(to: URL(fileURLWithPath: table))
            } else {
                // As a crontab that another user owns.
                try FileManager.default.createDirectory(
                    atPath: table,
                    withIntermediateDirectories: false
                )
            }
            for action in [["--every", "1h", "--install"], ["--remove"], ["--list"]] {
                let failed = try schedule(cron + action)
                #expect(failed.status == 5, "\(action)")
                let reason = content == nil ? "Is a directory" : "the crontab is not UTF-8"
                #expect(failed.diagnostics.contains(reason), "\(failed.diagnostics)")
            }
            if let content {
                #expect(try Data(contentsOf: URL(fileURLWithPath: table)) == content)
            }
        }
    }

    @Test func `one directory has a schedule for each of its states`() throws {
        let table = workplace.folder.path + "/table"
        try "5 4 * * * other".write(toFile: table, atomically: false, encoding: .utf8)
        func cron(_ state: [String], _ arguments: String...) throws -> ProgramResult {
            try schedule(["--push", "--format", "cron"] + state + arguments)
        }
        let state = ["--state-dir", try workplace.makeDirectory("state").path]
        for state in [[], state] {
            let run = try cron(state, "--daily", "02:30", "--install")
            #expect(run.status == 0, "\(run.diagnostics)")
        }
        let lines = try String(contentsOfFile: table, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 5 && lines.first == "5 4 * * * other", "\(lines)")
        // And the zone of the times.
        #expect(try cron([], "--list").output.split(separator: "\n").count == 3)
        #expect(try cron(state, "--remove").status == 0)
        let rest = try String(contentsOfFile: table, encoding: .utf8)
        #expect(!rest.contains("--state-dir") && rest.contains("'--quiet' '--if-locked'"))
        #expect(try cron(state, "--remove").status == 1)
        #expect(try cron([], "--remove").status == 0)
        #expect(try String(contentsOfFile: table, encoding: .utf8) == "5 4 * * * other\n")
    }

    @Test func `verify is scheduled with its options, also for the system`() throws {
        let verify = ["--verify", "--budget", "5%", "--on-calendar", "Sat,Sun 04:00"]
        let files = ["--metrics-file", "/o.prom", "--log-file", "/o.log"]
        let units = try schedule(verify + files + ["--system=backup"])
        #expect(units.status == 0, "\(units.diagnostics)")
        #expect(units.output.hasPrefix("# /etc/systemd/system/osssync-verify-"))
        for part in [
            "User=backup\n", "\"verify\" \"--quiet\" \"--if-locked\" \"wait=12h\"",
            "\"--budget\" \"5%%\"", "\"--metrics-file\" \"/o.prom\"",
            "OnCalendar=Sun,Sat *-*-* 04:00:00\n",
        ] {
            #expect(units.output.contains(part), "\(units.output)")
        }
        for wrong in [verify + ["--delete"], verify + ["--system", "--format", "cron"]] {
            #expect(try schedule(wrong).status == 2, "\(wrong)")
        }
    }

    @Test func `what cannot be scheduled is refused`() throws {
        for (arguments, part) in [
            (["--daily", "02:30"], "--pull, --push, --sync or --verify is missing"),
            (["--push"], "--every, --daily or --on-calendar is missing"),
            (["--push", "--pull", "--every", "1h"], "cannot be used together"),
            (["--push", "--every", "1h", "--daily", "02:30"], "cannot be used together"),
            (["--push", "--daily", "2:3"], "expected a time of day"),
            (["--push", "--install", "--remove"], "cannot be used together"),
            (["--push", "--daily", "02:30", "--html", "/nope/x"], "its directory does not exist"),
            (["--push", "--daily", "02:30", "--notify-url", "ftp://x"], "http"),
        ] {
            let run = try workplace.start(
                ["schedule", tree.path] + arguments,
                environment: path
            ).finish()
            #expect(run.status == 2 && run.diagnostics.contains(part), "\(run.diagnostics)")
        }
        let odd = try workplace.makeDirectory("a\tb")
        let run = try workplace.start(
            ["schedule", odd.path, "--push", "--every", "1h", "--format", "cron"],
            environment: path
        ).finish()
        #expect(run.status == 2)
    }
}
