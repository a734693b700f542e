internal import ObjectStorage
internal import SyncEngine
internal import SyncModel

extension World {
    /// The n-th request of the run comes to the service.
    func requestArrives(_ number: Int) {
        guard let run, !run.isDead else { return }
        for event in run.options.meanwhile where event.request == number {
            run.hadCompany = true
            apply(event.change)
        }
        judgeLock(run)
        interrupt(at: .request, number, "before a request")
    }

    /// The n-th request of the run was carried out and not answered yet.
    func requestWasCarriedOut(_ number: Int, _ call: ServiceCall) {
        interrupt(at: .answer, number, "after \(call.operation.rawValue)")
    }

    func carryOut(_ call: ServiceCall, _ body: [UInt8]) -> ServiceAnswer {
        service.now = now
        let answer = service.answer(call, body: body)
        for effect in service.takeEffects() { judge(effect) }
        return answer
    }

    func page(_ call: ServiceCall, isStale: Bool) -> ListingPage {
        guard isStale else { return service.page(call) }
        var stale = service
        stale.bucket = staleBucket
        return stale.page(call)
    }

    func document(_ page: ListingPage, isStale: Bool) -> ServiceAnswer {
        guard isStale else { return service.document(page) }
        var stale = service
        stale.bucket = staleBucket
        return stale.document(page)
    }

    /// A page came to the client as it was sent.
    func wasDelivered(_ page: ListingPage?) {
        guard let page, let run else { return }
        run.served.add(
            after: page.after.flatMap(Self.relative),
            through: page.next == nil ? nil : page.keys.last.flatMap(Self.relative),
            page.keys.compactMap(Self.relative)
        )
    }

    /// Bytes of an object came to the client.
    func sent(_ call: ServiceCall, from offset: Int, count: Int) {
        guard call.operation == .get, let run else { return }
        judgeNeed(of: call)
        run.bytesMoved += Int64(count)
        guard let object = service.bucket.resolved(call.key) else { return }
        received.add(call.key, object.etag, offset..<(offset + count))
    }

    func heard(_ count: Int, of call: ServiceCall) {
        guard call.operation == .put || call.operation == .uploadPart else { return }
        judgeNeed(of: call)
        run?.bytesMoved += Int64(count)
    }

    // MARK: - Effects

    private func judge(_ effect: ServiceEffect) {
        switch effect {
        case .wrote(let key, let previous): judgeWrite(key, over: previous)
        case .deleted(let key, let previous): judgeDeletion(key, of: previous)
        case .began(let upload): judgeChange("begins an upload of \(upload.key.display)")
        case .aborted(let upload):
            judgeChange("aborts an upload of \(upload.key.display)")
            if foreignUploads.contains(upload.id), !upload.parts.isEmpty {
                report(.othersData, "aborted another's upload of '\(upload.key.display)'")
            }
        case .read(let key):
            for object in [service.bucket.resolved(key), service.bucket.objects[key]] {
                if let object { knownSerials.insert(object.serial) }
            }
        }
    }

    private func judgeChange(_ what: String) {
        guard let run else { return }
        if run.options.direction == .pull { report(.remoteSide, "a pull \(what)") }
        if run.options.isDryRun { report(.remoteSide, "a dry run \(what)") }
    }

    private func judgeWrite(_ key: ObjectKey, over previous: VirtualBucket.Object?) {
        guard let object = service.bucket.objects[key] else { return }
        knownSerials.insert(object.serial)
        judgeChange("writes '\(key.display)'")
        run?.written.insert(key)
        guard let path = Self.relative(key) else {
            report(.outside, "wrote '\(key.display)', which is outside the prefix")
            return
        }
        let content = model.contents.identify(object.bytes)
        guard let content else {
            let found = model.contents.describe(object.bytes)
            report(.remoteSide, "the object '\(path.display)' is made of \(found)")
            return
        }
        let isMarker = path.isDirectoryMarker && object.bytes.isEmpty
        if !isMarker, model.seenInRun[path]?.contains(content) != true {
            report(
                .remoteSide,
                "the object '\(path.display)' got content \(content.number), which its file did "
                    + "not have in this run"
            )
        }
        if let previous { judgeLoss(of: previous, at: path, "overwrote") }
        wrote(path, content)
    }

    private func judgeDeletion(_ key: ObjectKey, of previous: VirtualBucket.Object?) {
        guard let run, let previous else { return }
        judgeChange("deletes '\(key.display)'")
        guard let path = Self.relative(key) else {
            report(.outside, "deleted '\(key.display)', which is outside the prefix")
            return
        }
        run.deletions += 1
        run.written.insert(key)
        if !run.deletes { report(.noDeletionOnDoubt, "'\(path.display)' was deleted unasked") }
        if !path.isDirectoryMarker, !model.wasAbsent(path) {
            report(.noDeletionOnDoubt, "the object '\(path.display)' was deleted beside its file")
        }
        judgeDeletionPolicy(run, path)
        if !run.options.deletesExtra { judgeLoss(of: previous, at: path, "deleted") }
        model.deleted(path)
    }

    /// What must be true of any run that deletes anything.
    func judgeDeletionPolicy(_ run: RunState, _ path: ObjectKey) {
        let name = path.display
        let own = run.items.firstIndex { $0.action == .deleteLocal && $0.key == name }
        let before = run.items.prefix(upTo: own ?? run.items.count)
        // One deletion that fails says nothing of the others.
        let failed = before.first { item in
            item.state == .failed && item.action != .deleteLocal && item.action != .deleteRemote
        }
        if let failed, run.deletions == 1 {
            report(
                .noDeletionOnDoubt,
                "'\(path.display)' was deleted although '\(failed.key)' had failed"
            )
        }
        if run.options.direction == .push, run.dice.counts[.walkError] != nil {
            report(.noDeletionOnDoubt, "'\(path.display)' was deleted after a walk that failed")
        }
    }

    private func judgeLoss(of object: VirtualBucket.Object, at path: ObjectKey, _ what: String) {
        guard let run, object.author == .world, !knownSerials.contains(object.serial),
            run.serialsAtStart[path] == object.serial, run.options.conflicts != .local
        else { return }
        let content = model.contents.identify(object.bytes)
        if let content, content == Contents.empty || model.mayHaveBeenLocal(path, content) {
            return
        }
        report(.othersData, "\(what) the object '\(path.display)', which it had never seen")
    }
}
