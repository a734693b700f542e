internal import SyncModel

extension VirtualTransport {
    /// An answer, and the page it is if it is one.
    struct Delivery {
        var answer: ServiceAnswer
        var listing: ListingPage?
    }

    /// Carries the call out, or not, and makes what the client gets to see.
    func delivery(_ call: ServiceCall, _ body: [UInt8]) -> Delivery {
        let hasBody = call.operation != .head
        if dice.rolls(.slowDown) { return slowDown(hasBody: hasBody) }
        if dice.rolls(.serverError) {
            return Delivery(answer: .error(500, hasBody ? "InternalError" : "", hasBody: hasBody))
        }
        if dice.rolls(.accessDenied) {
            return Delivery(answer: .error(403, hasBody ? "AccessDenied" : "", hasBody: hasBody))
        }
        if call.operation == .listObjects { return listing(call) }
        if call.operation == .complete || call.operation == .copy, dice.rolls(.errorInSuccess) {
            var answer = ServiceAnswer.error(200, "InternalError")
            answer.status = 200
            return Delivery(answer: answer)
        }
        let answer = world.carryOut(call, body)
        guard call.operation == .get, (200..<300).contains(answer.status) else {
            return Delivery(answer: answer)
        }
        return Delivery(answer: spoilt(answer, call))
    }

    private func slowDown(hasBody: Bool) -> Delivery {
        var answer = ServiceAnswer.error(503, hasBody ? "SlowDown" : "", hasBody: hasBody)
        switch dice.choice(.slowDown) % 4 {
        case 0: answer.headers.append(("retry-after", "2"))
        case 1: answer.headers.append(("retry-after", "-7"))
        case 2: answer.headers.append(("retry-after", "soon"))
        default: break
        }
        return Delivery(answer: answer)
    }

    // MARK: - Objects

    private func spoilt(_ answer: ServiceAnswer, _ call: ServiceCall) -> ServiceAnswer {
        var answer = answer
        if !answer.body.isEmpty, isProtected(answer), dice.rolls(.corruptBody) {
            let place = Int(dice.choice(.corruptBody) % UInt64(answer.body.count))
            answer.body[place] ^= 0x20
        }
        if dice.rolls(.wrongTag) {
            set(&answer, "etag", "\"00000000000000000000000000000000\"")
        }
        if call.headers["range"] != nil, dice.rolls(.wrongRange) {
            set(&answer, "content-range", "bytes 0-0/1")
        }
        if call.headers["range"] != nil, let object = world.service.bucket.resolved(call.key),
            object.stored.count != answer.body.count, dice.rolls(.wholeForRange)
        {
            answer.status = 200
            answer.body = object.stored
            answer.headers.removeAll { $0.name == "content-range" }
            set(&answer, "content-length", String(object.stored.count))
        }
        if call.headers["range"] != nil, let object = world.service.bucket.resolved(call.key),
            object.stored.count > answer.body.count, !answer.body.isEmpty,
            dice.rolls(.shiftedRange)
        {
            shift(&answer, of: object.stored, from: call.start)
        }
        if dice.rolls(.missingChecksum) {
            answer.headers.removeAll { $0.name == "x-oss-hash-crc64ecma" }
        }
        return answer
    }

    /// True if the client can tell from the headers that the bytes are others.
    private func isProtected(_ answer: ServiceAnswer) -> Bool {
        if world.run?.options.faults.rates["missingChecksum"] != nil { return false }
        return answer.headers.contains { name, value in
            name == "x-oss-hash-crc64ecma" || name == "x-amz-meta-osssync-crc64"
                || name == "etag" && !world.service.isOSS && !value.contains("-")
        }
    }

    /// As many bytes as were asked for, of another place, which the head tells truly.
    private func shift(_ answer: inout ServiceAnswer, of bytes: [UInt8], from asked: Int) {
        let length = answer.body.count
        let places = UInt64(bytes.count - length)
        var start = Int(dice.choice(.shiftedRange) % places)
        if start >= asked { start += 1 }
        answer.body = [UInt8](bytes[start..<(start + length)])
        set(&answer, "content-range", "bytes \(start)-\(start + length - 1)/\(bytes.count)")
    }

    private func set(_ answer: inout ServiceAnswer, _ name: String, _ value: String) {
        answer.headers.removeAll { $0.name == name }
        answer.headers.append((name, value))
    }

    // MARK: - Listings

    private func listing(_ call: ServiceCall) -> Delivery {
        let isStale = dice.rolls(.staleListing)
        let page = world.page(call, isStale: isStale)
        guard dice.rolls(.brokenListing) else {
            return Delivery(answer: world.document(page, isStale: isStale), listing: page)
        }
        return Delivery(answer: broken(page, call, isStale: isStale))
    }

    /// Pages that no listing can have, with the objects of the bucket that the page is of.
    private func broken(
        _ page: ListingPage,
        _ call: ServiceCall,
        isStale: Bool
    ) -> ServiceAnswer {
        var page = page
        let token = call.text("continuation-token")
        switch dice.choice(.brokenListing) % 10 {
        case 0:
            page.isTruncated = true
            page.next = token ?? "same"
            if token == nil { page.keys = page.keys.reversed() + page.keys }
        case 1:
            page.isTruncated = true
            page.next = nil
        case 2 where page.keys.count > 1: page.keys.reverse()
        case 3 where !page.keys.isEmpty: page.keys.append(page.keys[0])
        case 4:
            page.prefix = "other/"
        case 5:
            var answer = world.document(page, isStale: isStale)
            answer.body = answer.body.dropLast(1 + answer.body.count / 3) + []
            return answer
        case 6: return .document("<html><body>Sign in, please</body></html>")
        case 7:
            let text = String(decoding: world.document(page, isStale: isStale).body, as: UTF8.self)
            let flag = "<IsTruncated>\(page.isTruncated)</IsTruncated>"
            return .document(text.split(separator: flag).joined())
        case 8:
            page.keys = []
            page.isTruncated = true
            page.next = nil
        default:
            var answer = ServiceAnswer.error(200, "InternalError")
            answer.status = 200
            return answer
        }
        return world.document(page, isStale: isStale)
    }
}
