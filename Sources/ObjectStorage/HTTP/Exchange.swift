internal import SyncModel
internal import Synchronization

/// One request and its response while they are under way.
///
/// Unchecked, because everything but the flag is used by the transport's thread alone once the
/// exchange was handed to it.
package final class Exchange: @unchecked Sendable {
    package let request: HTTPRequest
    private let cancellation = Atomic<Bool>(false)

    /// Used for each line, by one thread at a time.
    @exclusivity(unchecked)
    private var parser = ResponseHeadParser()
    package private(set) var head: ResponseHead?
    private var disposition: BodyDisposition?
    private var body: [UInt8] = []
    private var receivedLength: Int64 = 0
    private var source: BodySource
    /// The first thing that a callback found wrong; what libcurl says afterwards is its echo.
    private var failure: TransportError?
    /// The rest of the response is not wanted, which is no failure.
    private var stopsEarly = false
    private var sendCount = 0
    package private(set) var isPaused = false
    private(set) var receivedBytes: Int64 = 0

    package init(_ request: HTTPRequest) {
        self.request = request
        source = BodySource(request.body, computesMD5: request.computesMD5)
    }

    /// True once the request began to leave over a connection.
    var wasSent: Bool { sendCount > 0 }

    package var isCancelled: Bool { cancellation.load(ordering: .acquiring) }

    package func cancel() {
        cancellation.store(true, ordering: .releasing)
    }

    package func resumed() {
        isPaused = false
    }

    /// True if what has arrived is wanted, and nothing else.
    package var endsWhenDry: Bool {
        switch disposition {
        case .file(let sink, _): return sink.endsWhenDry
        case .later(let late, _):
            if case .known(let sink) = late.destination { return sink.endsWhenDry }
            return false
        case .memory, .reject, nil: return false
        }
    }

    package func fail(_ error: TransportError) {
        if failure == nil { failure = error }
    }
}

// MARK: - What libcurl's callbacks do

extension Exchange {
    /// False if the request must not be sent once more.
    package func willSend() -> Bool {
        sendCount += 1
        guard sendCount == 1 || request.isReplayable else {
            fail(.connectionLost)
            return false
        }
        return true
    }

    /// False to end the exchange.
    package func receive(
        headerLine line: Span<UInt8>,
        resume: @escaping @Sendable () -> Void
    ) -> Bool {
        receivedBytes += Int64(line.count)
        do throws(TransportError) {
            guard let head = unsafe try parser.accept(line) else { return true }
            return receive(head, resume: resume)
        } catch {
            fail(error)
            return false
        }
    }

    /// False to end the exchange.
    package func receive(_ head: ResponseHead, resume: @escaping @Sendable () -> Void) -> Bool {
        self.head = head
        let disposition = request.classify(head)
        self.disposition = disposition
        switch disposition {
        case .file(let sink, _): sink.begin(resume: resume)
        case .later(let sink, _): sink.begin(resume: resume)
        case .memory: break
        case .reject:
            stopsEarly = true
            return false
        }
        return true
    }

    package enum Reception {
        case taken
        case paused
        case ended
    }

    package func receive(_ buffer: UnsafeRawBufferPointer) -> Reception {
        // libcurl may go on after a refusal, and what follows a lost piece must not take its place.
        guard failure == nil, !stopsEarly else { return .ended }
        switch disposition {
        case .file(let sink, let length):
            return unsafe receive(buffer, into: sink, length)
        case .later(let late, let length):
            switch late.destination {
            case .known(let sink): return unsafe receive(buffer, into: sink, length)
            case .unknown:
                isPaused = true
                return .paused
            case .refused:
                stopsEarly = true
                return .ended
            }
        case .memory(let limit, let truncates):
            let room = limit - body.count
            unsafe body.append(contentsOf: buffer.prefix(room))
            guard buffer.count <= room else {
                if truncates { stopsEarly = true } else { fail(.bodyTooLong) }
                return .ended
            }
        case .reject, nil:
            fail(.malformedResponse(reason: "a body came before its head"))
            return .ended
        }
        return received(buffer.count)
    }

    private func receive(
        _ buffer: UnsafeRawBufferPointer,
        into sink: FileSink,
        _ length: Int64
    ) -> Reception {
        guard Int64(buffer.count) <= length - receivedLength else {
            fail(.bodyTooLong)
            return .ended
        }
        switch unsafe sink.write(buffer) {
        case .written: return received(buffer.count)
        case .paused:
            isPaused = true
            return .paused
        case .enough: stopsEarly = true
        case .tooLong: fail(.bodyTooLong)
        case .failed(let errno): fail(.localIO(errno: errno, call: "pwrite"))
        }
        return .ended
    }

    private func received(_ count: Int) -> Reception {
        receivedLength += Int64(count)
        receivedBytes += Int64(count)
        request.onReceived?(count)
        return .taken
    }

    /// Nil to end the exchange.
    package func send(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        do throws(TransportError) {
            let count = unsafe try source.read(into: buffer)
            if count > 0 { request.onSent(count) }
            return count
        } catch {
            fail(error)
            return nil
        }
    }

    /// Takes all of the body at once, before any of it is sent; false to end the exchange.
    package func takeBody(into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        do throws(TransportError) {
            var taken = 0
            while taken < buffer.count {
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[taken...])
                taken += try unsafe source.read(into: rest)
            }
            return true
        } catch {
            fail(error)
            return false
        }
    }

    /// False if the body can't be sent from its start once more.
    package func rewindBody() -> Bool {
        guard request.isReplayable else {
            fail(.connectionLost)
            return false
        }
        let taken = source.rewind()
        if taken > 0 { request.onSent(-Int(taken)) }
        return true
    }
}

// MARK: - The end

extension Exchange {
    /// What the caller gets; the sink and the body's descriptor are not touched any more.
    package func finish(_ curlError: TransportError?) -> Result<HTTPResponse, TransportError> {
        let result = classify(curlError)
        switch disposition {
        case .file(let sink, _): sink.end()
        case .later(let sink, _): sink.end()
        case .memory, .reject, nil: break
        }
        return result
    }

    /// Bytes that a sink is to get; nil without one.
    private var storedLength: Int64? {
        switch disposition {
        case .file(_, let length), .later(_, let length): length
        case .memory, .reject, nil: nil
        }
    }

    private func classify(_ curlError: TransportError?) -> Result<HTTPResponse, TransportError> {
        if let failure { return .failure(failure) }
        if isCancelled { return .failure(.cancelled) }
        if stopsEarly, let head {
            return .success(HTTPResponse(head: head, body: body, sent: nil))
        }
        if let curlError {
            // libcurl asks before it sends: what ended until then was a handshake or a proxy.
            guard sendCount == 0, case .connectionLost = curlError else {
                return .failure(curlError)
            }
            return .failure(.connectFailed(reason: "it ended, or a proxy did, before a request"))
        }
        guard let head else {
            return .failure(.malformedResponse(reason: "it has no head"))
        }
        let hasBody = request.method != .head && head.status != 204 && head.status != 304
        if hasBody, let announced = head.contentLength, announced != receivedLength {
            return .failure(.bodyTooShort(received: receivedLength))
        }
        if let length = storedLength, length != receivedLength {
            return .failure(.bodyTooShort(received: receivedLength))
        }
        let digests = source.finish()
        if digests == nil, head.isSuccess {
            return .failure(.malformedResponse(reason: "it came before the request's end"))
        }
        return .success(HTTPResponse(head: head, body: body, sent: digests))
    }
}
