internal import OSSSync

extension RestoreCommand {
    /// Says of what was found nowhere where it may be.
    func explain(_ missing: [String], _ request: RestoreRequest) async {
        guard !missing.isEmpty else { return }
        guard request.version != .lastRun else {
            context.complain(
                "there is nothing to undo: no run deleted or replaced anything"
            )
            return
        }
        let directory = String(terminalSafe: context.place?.directory ?? "DIR")
        for path in missing {
            let shown = String(terminalSafe: path)
            if request.isUndo {
                context.complain(
                    "the trash has nothing of run \(request.version.number ?? 0); "
                        + "'osssync log \(directory)' lists the runs"
                )
                continue
            }
            let subject = "'\(shown)'"
            if request.version == .latest, request.outside == nil, request.target == nil,
                let reason = try? context.localMirror().reasonMissing(path)
            {
                context.complain("no version of \(subject) came back: \(reason)")
                continue
            }
            if case .at = request.version {
                context.complain(
                    "\(subject) was not there at that time, or that version is in no trash; see "
                        + "'osssync restore --list \(directory) \(shown)'"
                )
                continue
            }
            if case .latest = request.version, RestoreRequest.isAll(path), request.outside == nil {
                context.complain(
                    "the trash has nothing that comes back; 'osssync pull \(directory)' brings "
                        + "what the bucket has"
                )
            } else if case .latest = request.version {
                context.complain(
                    "no other version of \(subject) was found; see "
                        + "'osssync restore --list \(directory) \(shown)'"
                )
            } else {
                context.complain(
                    "\(subject) is not in the trash; see 'osssync trash \(directory)'"
                )
            }
        }
    }
}
