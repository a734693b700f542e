import SyncModel
import SyncTestSupport
import Testing

@testable import ObjectStorage

#if SystemLibraries
import CCurl
#endif

@Suite("Errors of the store")
struct StorageErrorTests {
    private func error(
        _ kind: StorageError.Kind,
        key: ObjectKey? = "a\nb",
        hint: String? = nil
    ) -> StorageError {
        StorageError(
            kind: kind,
            operation: "GetObject",
            key: key,
            ec: "0026-00000001",
            requestID: "R",
            serviceMessage: "Gone.",
            endpointHint: hint
        )
    }

    @Test func `the id of a request is safe to print`() {
        func shown(_ id: String) -> String? {
            StorageError(kind: .cancelled, operation: "GetObject", requestID: id).requestID
        }
        #expect(shown("5F0A-1") == "5F0A-1")
        #expect(shown("\u{1B}[2J\u{202E}\u{9B}m") == "\\x1B[2J\\u{202E}\\u{9B}m")
        #expect(shown(String(repeating: "x", count: 60_000))?.utf8.count == 128)
    }

    #if SystemLibraries
    @Test(arguments: [
        "Unsupported proxy syntax in 'http://u:secret@'",
        "Unsupported proxy scheme for 'nosuch://u:secret@h'",
    ])
    func `a proxy's address is not shown with its password`(detail: String) {
        let error = transportError(CURLE_COULDNT_RESOLVE_PROXY, detail: detail, connectStatus: 0)
        #expect(!error.message.contains("secret"), "\(error.message)")
        #expect(error.retryClass == .never)
    }
    #endif

    @Test func `messages say what failed, on what and what to do`() {
        #expect(
            error(.service(status: 404, code: "NoSuchKey")).message
                == "GetObject of 'a\\nb' failed: the service answered 404 NoSuchKey (Gone.),"
                + " EC 0026-00000001"
        )
        #expect(
            error(.service(status: 403, code: "InvalidObjectState")).message
                == "GetObject of 'a\\nb' failed: the service answered 403 InvalidObjectState"
                + " (Gone.), EC 0026-00000001. Restore the object first"
        )
        #expect(
            error(.integrity(.rangeIgnored)).message
                == "GetObject of 'a\\nb' failed: the server ignored the requested range and sent"
                + " the whole object"
        )
        #expect(
            error(.transport(.dnsFailed), key: nil).message
                == "GetObject failed: the host's name could not be resolved."
                + " Check the endpoint's name and the network"
        )
        #expect(
            error(.service(status: 307, code: ""), hint: "h\u{1B}").message
                == "GetObject of 'a\\nb' failed: the service answered 307 (Gone.),"
                + " EC 0026-00000001. Use the endpoint 'h\\x1B'"
        )
        #expect(
            error(.service(status: 302, code: "")).message.contains(
                "Redirects are not followed: specify the right endpoint"
            )
        )
        var redirect = error(.service(status: 302, code: ""), hint: "cdn.example.com")
        redirect.isSignedURL = true
        #expect(
            redirect.message.hasSuffix(
                ". Redirects are not followed: use a URL of the host 'cdn.example.com'"
            )
        )
    }

    @Test func `questions are answered from the kind`() {
        #expect(error(.service(status: 404, code: "NoSuchKey")).isNotFound)
        #expect(error(.service(status: 404, code: "")).isNotFound)
        #expect(!error(.service(status: 404, code: "NoSuchBucket")).isNotFound)
        #expect(!error(.service(status: 404, code: "NoSuchUpload")).isNotFound)
        #expect(error(.service(status: 404, code: "NoSuchUpload")).isNoSuchUpload)
        #expect(error(.service(status: 403, code: "AccessDenied")).isAccessDenied)
        #expect(!error(.service(status: 403, code: "InvalidObjectState")).isAccessDenied)
        #expect(error(.service(status: 403, code: "InvalidObjectState")).isArchived)
        #expect(error(.service(status: 409, code: "FileAlreadyExists")).isAlreadyExists)
        #expect(error(.service(status: 416, code: "InvalidRange")).isRangeNotSatisfiable)
        #expect(error(.service(status: 503, code: "")).isThrottled)
        #expect(error(.transport(.cancelled)).isCancelled)
        #expect(error(.cancelled).isCancelled)
    }

    @Test func `what surely had no effect is told from what may have`() {
        for kind in [
            StorageError.Kind.transport(.connectFailed(reason: "x")), .transport(.dnsFailed),
            .transport(.tlsFailed(reason: "x")), .service(status: 403, code: "AccessDenied"),
            .invalidRequest("x"), .credentials("x"),
        ] {
            #expect(!error(kind).mayHaveReachedServer)
        }
        for kind in [
            StorageError.Kind.transport(.connectionLost), .transport(.stalled), .cancelled,
            .service(status: 500, code: "InternalError"), .protocolViolation("x"),
            .service(status: 200, code: "InternalError"),
        ] {
            #expect(error(kind).mayHaveReachedServer)
        }
    }

    @Test func `an object may be there after a lost answer, or a refusal because of it`() {
        for kind in [
            StorageError.Kind.transport(.connectionLost),
            .service(status: 409, code: "FileAlreadyExists"),
            .service(status: 412, code: "PreconditionFailed"),
        ] {
            #expect(error(kind).mayHaveMadeObject)
        }
        for kind in [
            StorageError.Kind.cancelled, .transport(.cancelled), .transport(.dnsFailed),
            .service(status: 403, code: "AccessDenied"), .service(status: 404, code: "NoSuchKey"),
        ] {
            #expect(!error(kind).mayHaveMadeObject)
        }
    }

    @Test func `an unchanged object is an answer where it was asked for`() async throws {
        let fixture = try ClientFixture { _, _ in [.text("HTTP/1.1 304 Not Modified\r\n\r\n")] }
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.read(
                GetRequest(
                    key: "k",
                    form: nil,
                    conditions: ReadConditions(ifNoneMatch: ETag(wire: "E"))
                ),
                limit: 10
            )
        }
        #expect(error?.kind == .service(status: 304, code: "NotModified"))
        #expect(fixture.server.requests.count == 1)
        #expect(fixture.server.requests.first?["if-none-match"] == "\"E\"")
    }

    @Test func `a missing bucket is named`() async throws {
        let fixture = try ClientFixture { _, _ in [serviceError("404 Not Found", "NoSuchBucket")] }
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.list(ListRequest(prefix: "p/"))
        }
        #expect(error?.message.contains("There is no bucket 'bucket' at this endpoint") == true)
    }
}
