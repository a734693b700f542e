internal import SyncModel

extension World {
    /// The n-th request of the run comes to the service.
    func requestArrives(_ number: Int) {
        guard let run, !run.isDead else { return }
        keepCompany(run, number, isAfter: false)
        judgeLock(run)
        if run.options.rival?.request == number { startRival(run) }
        interrupt(at: .request, number, "before a request")
    }

    private func keepCompany(_ run: RunState, _ number: Int, isAfter: Bool) {
        for event in run.options.meanwhile
        where event.request == number && (event.isAfter ?? false) == isAfter {
            run.hadCompany = true
            apply(event.change)
        }
    }

    /// The n-th request of the run was carried out and not answered yet.
    func requestWasCarriedOut(_ number: Int, _ call: ServiceCall) {
        if let run, !run.isDead { keepCompany(run, number, isAfter: true) }
        interrupt(at: .answer, number, "after \(call.operation.rawValue)")
    }

    func carryOut(_ call: ServiceCall, _ body: [UInt8]) -> ServiceAnswer {
        service.now = now
        let answer = service.answer(call, body: body)
        for effect in service.takeEffects() {
            judge(effect, of: call)
            judgeDamage(after: effect)
        }
        if call.operation == .uploadPart, answer.status == 200, call.key.hasPrefix(Self.prefix) {
            let number = Int(call.text("partNumber") ?? "") ?? 0
            let tag = answer.headers.first { $0.name == "etag" }?.value ?? ""
            sentParts.add(call.key, number, tag, size: body.count)
        }
        return answer
    }

    func page(_ call: ServiceCall, isStale: Bool) -> ListingPage {
        var asked = service
        if isStale {
            asked.bucket = staleBucket
            run?.hadStaleListing = true
        }
        let page = asked.page(call)
        noteListing(page.keys, of: asked.bucket)
        return page
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
        scheduler.trace.say(
            "  a page after \(page.after?.display ?? "the start") with \(page.keys.map(\.display))"
        )
        run.served.add(
            Self.relative(page.prefix) ?? "",
            after: page.after.flatMap(Self.relative),
            through: page.next == nil ? nil : page.keys.last.flatMap(Self.relative),
            page.keys.compactMap(Self.relative)
        )
    }

    /// The second listing of a run is the look before its deletions.
    private func noteListing(_ keys: [ObjectKey], of bucket: VirtualBucket) {
        guard let run else { return }
        for key in keys {
            guard let path = Self.relative(key), let object = bucket.objects[key],
                !run.listed.insert(path).inserted
            else { continue }
            run.lastListed[path] = object.serial
        }
    }

    /// Bytes of an object came to the client.
    func sent(_ call: ServiceCall, from offset: Int, count: Int) {
        guard call.operation == .get, let run else { return }
        judgeNeed(of: call)
        run.bytesMoved += Int64(count)
        guard let object = service.bucket.resolved(call.key) else { return }
        received.add(call.key, object.etag, offset..<(offset + count))
    }

    /// No two contents are encrypted under one nonce.
    func judgeNonce(of body: [UInt8], _ call: ServiceCall) {
        guard setup.isEncrypted == true, [.put, .uploadPart].contains(call.operation),
            !(body.isEmpty || sentNonces.isNew(body, of: call))
        else { return }
        report(.encrypted, "'\(call.key.display)' has a nonce that other content had")
    }

    func heard(_ count: Int, of call: ServiceCall) {
        guard call.operation == .put || call.operation == .uploadPart else { return }
        judgeNeed(of: call)
        run?.bytesMoved += Int64(count)
    }

    // MARK: - Effects

    private func judge(_ effect: ServiceEffect, of call: ServiceCall) {
        switch effect {
        case .wrote(let key, let previous): judgeWrite(key, over: previous, by: call)
        case .deleted(let key, let previous): judgeDeletion(key, of: previous)
        case .began(let upload): judgeChange("begins an upload of \(upload.key.display)")
        case .aborted(let upload):
            judgeChange("aborts an upload of \(upload.key.display)", isAbort: true)
            if let path = Self.relative(upload.key), run?.leavesOut(path) == true {
                report(.limits, "aborted an upload of '\(path.display)'")
            }
            if foreignUploads.contains(upload.id), !upload.parts.isEmpty {
                report(.othersData, "aborted another's upload of '\(upload.key.display)'")
            }
        case .read(let key):
            for object in [service.bucket.resolved(key), service.bucket.objects[key]] {
                if let object { knownSerials.insert(object.serial) }
            }
            if let path = Self.relative(key), let object = service.bucket.objects[key] {
                run?.lastSeen[path] = object.serial
            }
        }
    }

    func judgeChange(_ what: String, isAbort: Bool = false) {
        guard let run else { return }
        if isAbort, run.options.tool == .cancel { return }
        if !run.writesObjects { report(.remoteSide, "a run that writes no objects \(what)") }
    }

    private func judgeWrite(
        _ key: ObjectKey,
        over previous: VirtualBucket.Object?,
        by call: ServiceCall
    ) {
        guard let object = service.bucket.objects[key] else { return }
        knownSerials.insert(object.serial)
        judgeChange("writes '\(key.display)'")
        run?.written.insert(key)
        if let run, let path = Self.relative(key), run.excludes(path), !closesAbove(path, run) {
            report(.remoteSide, "'\(path.display)' is excluded and was written")
        }
        guard let path = Self.relative(key) else {
            report(.outside, "wrote '\(key.display)', which is outside the prefix")
            return
        }
        let isMarker = path.isDirectoryMarker && object.stored.isEmpty
        if setup.isEncrypted == true, !isMarker, SealedObjects.file(of: object.stored) == nil {
            report(.encrypted, "the object '\(path.display)' is not encrypted")
        }
        let content = model.contents.identify(object.bytes)
        // Where times are coarse, nothing tells of an edit of the same size in the same moment
        // before the body is sent. The file is read again before parts are completed.
        if content == nil, (setup.timeStep ?? 0) > 0, run?.hadCompany == true,
            call.operation == .put
        {
            return wrote(path, model.contents.take(object.bytes))
        }
        guard let content else {
            let found = model.contents.describe(object.bytes)
            report(.remoteSide, "the object '\(path.display)' is made of \(found)")
            return
        }
        judgeReserved(path, "sent")
        // What the bucket had once is no secret.
        let isKnown = model.versions[path]?.values.contains(content) == true
        if let run, !isKnown { judgeHidden(path, run) }
        if !isMarker, model.seenInRun[path]?.contains(content) != true {
            report(
                .remoteSide,
                "the object '\(path.display)' got content \(content.number), which its file did "
                    + "not have in this run"
            )
        }
        if let previous {
            judgeLoss(of: previous, at: path, "overwrote")
            judgeLastCopy(of: previous, at: path, "overwrote")
        }
        wrote(path, content)
    }

    /// What somebody wrote may go only if its content was here once, and so was seen by the user.
    func judgeLoss(of object: VirtualBucket.Object, at path: ObjectKey, _ what: String) {
        guard let run, object.author == .world, run.options.conflicts != .local,
            object.target == nil
        else { return }
        // OSS and some others cannot replace on condition: what came since the last look is lost,
        // if there was something before.
        let atStart = run.serialsAtStart[path]
        if atStart != nil, atStart != object.serial {
            if service.isOSS, wasLookedAt(object, at: path, run, what) { return }
            let isBlind = setup.hasNoConditions == true && what == "overwrote"
            if isBlind, sawAnother(than: object, at: path, run, what) { return }
        }
        // Neither service deletes on condition: what came after the last look is lost.
        if what == "deleted", atStart != nil, sawAnother(than: object, at: path, run, what) {
            return
        }
        // Without conditions, what comes after the listing is not seen.
        if setup.hasNoConditions == true, atStart == nil, what == "overwrote" { return }
        let content = model.contents.identify(object.bytes)
        // A store whose listings lag, and lag again, is believed.
        if what == "deleted", run.hadStaleListing { return }
        if let content, content == Contents.empty || model.mayHaveBeenLocal(path, content) {
            return
        }
        report(.othersData, "\(what) the object '\(path.display)', which was never here")
    }
}
