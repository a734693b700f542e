import Foundation
import Glibc
import Testing

@Suite("Unattended runs", .serialized)
struct OperationTests {
    /// A run that holds the directory of `tree` until the faults are cleared.
    private func holder(_ workplace: Workplace, _ tree: Tree) throws -> RunningProgram {
        try workplace.setFaults(
            #"[{"match": {"operation": "ListObjectsV2"}, "effect": {"hold": true}}]"#
        )
        let first = try workplace.start(["push", tree.path, "--json"])
        try #require(first.waitForLine { $0.contains("\"start\"") } != nil)
        return first
    }

    private func mirror(_ workplace: Workplace) throws -> Tree {
        let tree = try workplace.makeDirectory("tree")
        try tree.write("a", ramp(100))
        try #require(try workplace.run("push", tree.path, workplace.remote).status == 0)
        return tree
    }

    @Test func `a locked directory can be skipped or waited for`() throws {
        let workplace = try Workplace()
        let tree = try mirror(workplace)
        let first = try holder(workplace, tree)
        let skipped = try workplace.run("pull", tree.path, "--if-locked", "skip")
        #expect(skipped.status == 0)
        #expect(skipped.output.isEmpty)
        #expect(skipped.diagnostics.hasPrefix("osssync: pull skipped: another run holds"))
        #expect(skipped.diagnostics.split(separator: "\n").count == 1)
        let quiet = try workplace.run("pull", tree.path, "--if-locked", "skip", "-q")
        #expect(quiet.status == 0 && quiet.diagnostics.isEmpty && quiet.output.isEmpty)
        let line = try workplace.run("pull", tree.path, "--if-locked", "skip", "--json")
        #expect(line.events.map { $0["event"] as? String } == ["skipped"])
        #expect(line.events.first?["direction"] as? String == "pull")
        let short = try workplace.run("push", tree.path, "--if-locked", "wait=1s")
        #expect(short.status == 75, "\(short.diagnostics)")
        #expect(short.diagnostics.hasPrefix("osssync: warning: waiting: another run holds"))
        let waiting = try workplace.start(["push", tree.path, "--if-locked", "wait", "--json"])
        try #require(waiting.waitForLine { $0.contains("waiting: ") } != nil)
        try workplace.clearFaults()
        #expect(first.finish().status == 0)
        let patient = waiting.finish()
        #expect(patient.status == 0, "\(patient.diagnostics)")
        #expect(patient.count("unchanged") == 1)
    }

    @Test func `a run that waits for another one can be interrupted`() throws {
        let workplace = try Workplace()
        let tree = try mirror(workplace)
        let first = try holder(workplace, tree)
        let waiting = try workplace.start(["push", tree.path, "--if-locked", "wait", "--json"])
        try #require(waiting.waitForLine { $0.contains("waiting: ") } != nil)
        waiting.send(SIGINT)
        #expect(waiting.finish().status == 130)
        #expect(first.isRunning)
        try workplace.clearFaults()
        #expect(first.finish().status == 0)
    }

    /// The value of a figure, by its name without "osssync_".
    private func figure(_ name: String, in path: String) throws -> Double? {
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let line = lines.first { $0.hasPrefix("osssync_\(name){") }
        return line?.split(separator: " ").last.flatMap { Double($0) }
    }

    @Test func `a run writes its log and its figures, also if it fails`() throws {
        let workplace = try Workplace()
        let tree = try mirror(workplace)
        let (log, metrics) = (workplace.folder.path + "/log", workplace.folder.path + "/o.prom")
        let files = ["--log-file", log, "--metrics-file", metrics]
        try tree.write("b", ramp(100))
        let start = Date().timeIntervalSince1970.rounded(.down)
        let good = try workplace.start(["push", tree.path, "--json", "-q"] + files).finish()
        #expect(good.status == 0, "\(good.diagnostics)")
        #expect(try figure("last_run_exit_code", in: metrics) == 0)
        #expect(try figure("last_run_transferred_files", in: metrics) == 1)
        #expect(try figure("last_run_transferred_bytes", in: metrics) == 100)
        #expect(try figure("in_step", in: metrics) == 1)
        let success = try #require(try figure("last_success_timestamp_seconds", in: metrics))
        #expect(success >= start)
        let text = try String(contentsOfFile: log, encoding: .utf8)
        for part in ["Z push ", "Z upload b (100 B)", "Z push finished in "] {
            #expect(text.contains(part), "\(text)")
        }

        let secret = ["OSS_ACCESS_KEY_SECRET": "wrong"]
        let denied = try workplace.start(["push", tree.path] + files, environment: secret).finish()
        #expect(denied.status == 4)
        #expect(try figure("last_run_exit_code", in: metrics) == 4)
        #expect(try figure("in_step", in: metrics) == 0)
        #expect(try figure("last_success_timestamp_seconds", in: metrics) == success)

        let nothing = ["OSS_ACCESS_KEY_ID": "", "OSS_ACCESS_KEY_SECRET": ""]
        let keyless = try workplace.start(["push", tree.path] + files, environment: nothing)
        let status = keyless.finish().status
        #expect(status == 2 || status == 4)
        #expect(try figure("last_run_exit_code", in: metrics) == Double(status))
        let whole = try String(contentsOfFile: metrics, encoding: .utf8)
        #expect(whole.contains("remote=\"\(workplace.remote)/\",direction=\"push\""))
        let later = try String(contentsOfFile: log, encoding: .utf8)
        #expect(later.hasPrefix(text) && later.contains("Z osssync: "))
    }

    @Test func `files of a run are the user's own in no case`() throws {
        let workplace = try Workplace()
        let tree = try mirror(workplace)
        try tree.write("d/b", ramp(5))
        let both = workplace.folder.path + "/both"
        for (files, reason) in [
            (["--log-file", "-"], "'--log-file': expected a path"),
            (["--metrics-file", "-"], "'--metrics-file': expected a path"),
            (["--log-file", tree.path + "/log"], "a push would upload it"),
            (["--metrics-file", tree.path + "/d/../o.prom"], "a push would upload it"),
            (["--metrics-file", tree.path + "/d/b"], "a push would upload it"),
            (["--log-file", both, "--metrics-file", both], "it is the log file"),
            (["--metrics-file", workplace.folder.path + "/credentials"], "is not from osssync"),
        ] {
            let run = try workplace.start(["push", tree.path] + files).finish()
            #expect(run.status == 2, "\(files)")
            #expect(run.diagnostics.contains(reason), "\(run.diagnostics)")
        }
        #expect(!tree.exists("log") && tree.content("d/b") == ramp(5))
        let elsewhere = try workplace.makeDirectory("state").path
        for file in [tree.path + "/.osssync/config", tree.path + "/.osssync/new", elsewhere + "/f"]
        {
            for option in ["--log-file", "--metrics-file"] {
                let arguments = ["push", tree.path, option, file, "--state-dir", elsewhere]
                let run = try workplace.start(arguments).finish()
                #expect(run.status == 2, "\(file)")
                #expect(run.diagnostics.contains("it is in a state directory"))
            }
        }
        #expect(!tree.exists(".osssync/new"))
        let state = workplace.folder.path + "/"
        let limited = try workplace.run(
            "push",
            tree.path,
            "d",
            "--log-file",
            state + "log",
            "--metrics-file",
            state + "o.prom"
        )
        #expect(limited.status == 0, "\(limited.diagnostics)")
        #expect(try figure("last_run_transferred_files", in: state + "o.prom") == 1)
        #expect(try figure("in_step", in: state + "o.prom") == nil)
        #expect(FileManager.default.fileExists(atPath: state + "log"))
    }

    @Test func `a dry run leaves the figures of the last run`() throws {
        let workplace = try Workplace()
        let tree = try mirror(workplace)
        let metrics = workplace.folder.path + "/o.prom"
        let run = try workplace.run("push", tree.path, "-n", "--metrics-file", metrics)
        #expect(run.status == 0)
        #expect(!FileManager.default.fileExists(atPath: metrics))
    }

    @Test func `a run that stops at its limit exits with 0`() throws {
        let workplace = try Workplace()
        let tree = try mirror(workplace)
        try workplace.setFaults(
            #"[{"match": {"operation": "ListObjectsV2"}, "effect": {"hold": true}}]"#
        )
        let run = try workplace.run("push", tree.path, "--max-duration", "1s", "--json")
        #expect(run.status == 0, "\(run.diagnostics)")
        #expect(run.summary["stopped"] as? String == "max-duration")
        #expect(run.summary["in_step"] as? Bool == false)
        let text = try workplace.run("push", tree.path, "--max-duration", "1s")
        #expect(text.output.contains("\nstopped by --max-duration; run the same command"))
    }

    @Test func `the bandwidth of a run is limited`() throws {
        let workplace = try Workplace()
        let tree = try mirror(workplace)
        try tree.write("b", ramp(600_000))
        let limited = try workplace.run("push", tree.path, "--bwlimit", "200KB", "--json")
        #expect(limited.status == 0, "\(limited.diagnostics)")
        // Without a limit, this takes a few milliseconds.
        #expect(limited.summary["seconds"] as? Double ?? 0 > 1.5)
    }

    @Test func `status warns of filters that are those of one direction`() throws {
        let workplace = try Workplace()
        let tree = try mirror(workplace)
        let path = tree.path + "/.osssync/config"
        let config = try String(contentsOfFile: path, encoding: .utf8)
        for line in ["exclude = x", "max-size = 1G", "exclude-caches = yes"] {
            try (config + "\n[push]\n\(line)\n").write(
                toFile: path,
                atomically: false,
                encoding: .utf8
            )
            let status = try workplace.run("status", tree.path)
            #expect(status.diagnostics.contains("the filters of [push]"), "\(line)")
        }
    }

    @Test func `status and doctor show what is in the trash`() throws {
        let workplace = try Workplace()
        let tree = try mirror(workplace)
        #expect(try !workplace.run("status", tree.path).output.contains("trash"))
        let empty = try workplace.run("doctor", tree.path).output
        #expect(empty.contains("trash: 0 files in the trash here (0 B)\n"), "\(empty)")
        let other = try workplace.makeDirectory("other")
        try #require(try workplace.run("pull", other.path, workplace.remote).status == 0)
        try other.write("extra", ramp(3 << 20))
        try #require(try workplace.run("pull", "--delete=extra", other.path).status == 0)
        let status = try workplace.run("status", other.path)
        #expect(status.output.contains("\n  trash: 1 file (3.0 MiB)\n"), "\(status.output)")
        let line = try workplace.run("status", "--json", other.path).events.last
        #expect(line?["trash_files"] as? Int == 1)
        #expect(line?["trash_bytes"] as? Int == 3 << 20)
        let doctor = try workplace.run("doctor", "--check-write", other.path).output
        #expect(doctor.contains("trash: 1 file in the trash here (3.0 MiB)\n"), "\(doctor)")
        #expect(doctor.contains("writing: objects can be written\n"))
        #expect(doctor.contains("timer: none for this directory; "))
        // What cannot be read keeps neither from the rest.
        let trash = other.path + "/.osssync/trash"
        try FileManager.default.removeItem(atPath: trash)
        try Data().write(to: URL(fileURLWithPath: trash))
        let unread = try workplace.run("status", other.path)
        #expect(unread.status == 0)
        #expect(unread.diagnostics.contains("trash"), "\(unread.diagnostics)")
        #expect(try workplace.run("doctor", other.path).output.contains("note   trash: "))
    }

    @Test func `status and doctor show when a run last succeeded`() throws {
        let workplace = try Workplace()
        let tree = try mirror(workplace)
        let status = try workplace.run("status", tree.path)
        #expect(status.output.contains("\n  last success: push 2"), "\(status.output)")
        let line = try workplace.run("status", "--json", tree.path).events.last
        let times = line?["last_success"] as? [String: String]
        #expect(times?.keys.sorted() == ["push"])
        // One that fails is not the last success, nor is a repair.
        try tree.write("a", ramp(200))
        try workplace.setFaults(
            """
            [{"match": {"operation": "PutObject"}, "effect": {"fail": {"status": 403,
              "code": "AccessDenied"}}}]
            """
        )
        #expect(try workplace.run("push", tree.path).status != 0)
        let after = try workplace.run("status", "--json", tree.path).events.last
        #expect(after?["last_success"] as? [String: String] == times)
        let doctor = try workplace.run("doctor", tree.path)
        let time = try #require(times?["push"])
        let reader = ISO8601DateFormatter()
        reader.formatOptions.insert(.withFractionalSeconds)
        let utc = try #require(reader.date(from: time))
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
        let local = formatter.string(from: utc)
        #expect(doctor.output.contains("last success: push \(local) (local time, "))
        #expect(status.output.contains("last success: push \(local) (local time, "))
        for (zone, shift, offset) in [
            ("XXX-05:30", 19_800, "+05:30"), ("YYY3", -10_800, "-03:00"),
        ] {
            formatter.timeZone = TimeZone(secondsFromGMT: shift)
            let there = formatter.string(from: utc)
            for command in ["status", "doctor", "log"] {
                let run = try workplace.run(command, tree.path, environment: ["TZ": zone])
                // When the run began and when it ended may be different seconds.
                let shown = command == "log" ? String(there.dropLast(3)) : there
                #expect(run.output.contains(shown), "\(run.output)")
                #expect(run.output.contains("local time, \(offset)"), "\(run.output)")
            }
        }
    }

    @Test func `a run that goes on is shown as running`() throws {
        let workplace = try Workplace()
        let tree = try mirror(workplace)
        try tree.write("new", ramp(200))
        try workplace.setFaults(
            #"[{"match": {"operation": "PutObject"}, "effect": {"hold": true}}]"#
        )
        let push = try workplace.start(["push", tree.path, "--json"])
        try #require(push.waitForLine { $0.contains(#""state":"started""#) } != nil)
        for (command, part) in [
            ("log", "  push  is running\n"), ("status", "\n  push running since 2"),
            ("doctor", "ok     run: push running since 2"),
        ] {
            let run = try workplace.run(command, tree.path)
            #expect(run.output.contains(part), "\(run.output)\(run.diagnostics)")
        }
        let status = try workplace.run("status", "--json", tree.path).events.last
        #expect((status?["running"] as? [String: Any])?["direction"] as? String == "push")
        push.send(SIGKILL)
        _ = push.finish()
        for command in ["log", "status", "doctor"] {
            let run = try workplace.run(command, tree.path)
            #expect(!run.output.contains("running"), "\(run.output)")
        }
        #expect(try workplace.run("log", tree.path).output.contains("  push  did not end\n"))
    }
}
