import SyncModel
import Testing

@testable import ObjectStorage

@Suite("Signing")
struct SigningTests {
    @Test func `the published file has all of its 74 cases`() throws {
        let file = try Vectors.decode(SigningVectorCase.File.self, from: "oss-signing.json")
        #expect(file.count == 74)
        #expect(file.cases.count == 74)
        let tested =
            ["oss-v4-header", "s3-v4-header", "oss-v4-presign", "s3-v4-presign"]
            + ["oss-v1-header", "oss-v1-presign"]
        #expect(tested.map { SigningVectorCase.all($0).count } == [41, 9, 8, 2, 11, 3])
    }

    @Test(
        arguments: SigningVectorCase.all("oss-v4-header") + SigningVectorCase.all("s3-v4-header")
    )
    func `a V4 header agrees with the official signers at every step`(
        vector: SigningVectorCase
    ) throws {
        var request = try vector.request()
        let signer = vector.signer
        let region = try #require(try vector.endpoint().region)
        let given = request.headers.count
        signer.sign(
            &request,
            credentials: vector.signingCredentials,
            region: region,
            time: vector.time
        )
        let added = request.headers[given...]
        #expect(added.last?.0 == "authorization")
        #expect(added.last?.1 == vector.expected.authorization)
        expectHeaders(added.dropLast(), vector.expected.headersAdded)

        request.headers.removeLast()
        let scope = signer.scope(vector.signingCredentials, region, vector.time)
        let steps = signer.steps(for: request, scope: scope)
        expectSteps(steps, vector.expected)
        let keeps = signer.parameters.keepsEmptyValues
        let url =
            try vector.endpoint().origin(bucket: vector.bucket)
            + request.target(keepsEmptyValues: keeps)
        #expect(UnorderedURL(url) == UnorderedURL(vector.expected.url))
        if keeps { #expect(url == vector.expected.url) }
    }

    @Test(
        arguments: SigningVectorCase.all("oss-v4-presign") + SigningVectorCase.all("s3-v4-presign")
    )
    func `a V4 signed URL agrees with the official signers at every step`(
        vector: SigningVectorCase
    ) throws {
        var request = try vector.request()
        let endpoint = try vector.endpoint()
        let (query, steps) = vector.signer.presignSteps(
            request,
            credentials: vector.signingCredentials,
            region: try #require(endpoint.region),
            time: vector.time,
            expiresInSeconds: try #require(vector.expiresSeconds)
        )
        expectSteps(steps, vector.expected)
        request.query += query
        expectURL(request, endpoint, vector)
        #expect(query.last?.1 == vector.expected.signature, "the signature is the last parameter")
    }

    @Test(arguments: SigningVectorCase.all("oss-v1-header"))
    func `a V1 header agrees with the official signers`(vector: SigningVectorCase) throws {
        var request = try vector.request()
        let given = request.headers.count
        V1Signer().sign(
            &request,
            credentials: vector.signingCredentials,
            time: vector.time
        )
        let added = request.headers[given...]
        #expect(added.last?.0 == "authorization")
        #expect(added.last?.1 == vector.expected.authorization)
        expectHeaders(added.dropLast(), vector.expected.headersAdded)
        request.headers.removeLast()
        let date = CivilTime(vector.time).httpText
        let text = V1Signer().stringToSign(request, date: date)
        #expect(String(decoding: text, as: UTF8.self) == vector.expected.stringToSign)
        expectURL(request, try vector.endpoint(), vector)
    }

    @Test(arguments: SigningVectorCase.all("oss-v1-presign"))
    func `a V1 signed URL agrees with the official signers`(vector: SigningVectorCase) throws {
        var request = try vector.request()
        let lifetime = try #require(vector.expiresSeconds)
        let query = V1Signer().presign(
            request,
            credentials: vector.signingCredentials,
            time: vector.time,
            expiresInSeconds: lifetime
        )
        #expect(query.last?.0 == "Signature")
        #expect(query.last?.1 == vector.expected.signature)
        request.query += query
        expectURL(request, try vector.endpoint(), vector)
        request.query.removeLast(3)
        let text = V1Signer().stringToSign(request, date: String(vector.epoch + lifetime))
        #expect(String(decoding: text, as: UTF8.self) == vector.expected.stringToSign)
    }

    @Test func `blanks at the ends of a header are not signed`() throws {
        let plain = try authorization(header: "two  inner  spaces kept")
        #expect(try authorization(header: " \t two  inner  spaces kept ") == plain)
        #expect(try authorization(header: "two inner spaces kept") != plain)
    }

    @Test func `a signer asked for another day, region or secret makes another key`() throws {
        let signer = V4Signer(parameters: V4Parameters(product: "oss"), additionalHeaders: [])
        let first = Credentials(accessKeyID: "ak", accessKeySecret: Secret("sk"))
        let second = Credentials(accessKeyID: "ak", accessKeySecret: Secret("other"))
        let time = Timestamp(seconds: 1_767_323_045)
        let key = signer.scope(first, "cn-hangzhou", time).key
        #expect(signer.scope(first, "cn-hangzhou", Timestamp(seconds: 1_767_323_046)).key == key)
        #expect(signer.scope(second, "cn-hangzhou", time).key != key)
        #expect(signer.scope(first, "cn-beijing", time).key != key)
        #expect(signer.scope(first, "cn-hangzhou", Timestamp(seconds: 1_767_409_445)).key != key)
        #expect(signer.scope(first, "cn-hangzhou", time).key == key)
        let next = signer.scope(first, "cn-hangzhou", Timestamp(seconds: 1_767_323_047))
        #expect(next.timeText == "20260102T030407Z")
    }

    @Test func `several values of one header are signed as one, in their order`() throws {
        var fields = CanonicalFields(capacity: 3)
        fields.add(header: "X-Oss-B", value: "2", collapsesBlanks: false)
        fields.add(header: "x-oss-a", value: "z", collapsesBlanks: false)
        fields.add(header: "x-oss-b", value: "1", collapsesBlanks: false)
        fields.sortHeaders()
        var text: [UInt8] = []
        fields.appendHeaders(to: &text)
        #expect(String(decoding: text, as: UTF8.self) == "x-oss-a:z\nx-oss-b:2,1\n")
        var names: [UInt8] = []
        fields.appendNames(to: &names)
        #expect(String(decoding: names, as: UTF8.self) == "x-oss-a;x-oss-b")
    }

    private func authorization(header: String) throws -> String? {
        var request = SignableRequest(
            method: .put,
            endpoint: try Endpoint(parsing: nil, region: "cn-hangzhou", addressing: .auto),
            bucket: "examplebucket",
            key: "a.txt",
            query: [],
            headers: [("x-oss-meta-note", header)]
        )
        V4Signer(parameters: V4Parameters(product: "oss"), additionalHeaders: []).sign(
            &request,
            credentials: Credentials(accessKeyID: "ak", accessKeySecret: Secret("sk")),
            region: "cn-hangzhou",
            time: Timestamp(seconds: 0)
        )
        return request.headers.last?.1
    }

    private func expectSteps(_ steps: V4Signer.Steps, _ expected: SigningVectorCase.Expected) {
        let canonical = String(decoding: steps.canonicalRequest, as: UTF8.self)
        #expect(canonical == expected.canonicalRequest)
        let toSign = String(decoding: steps.stringToSign, as: UTF8.self)
        #expect(toSign == expected.stringToSign)
        #expect(hexadecimalText(steps.signingKey) == expected.signingKeyHex)
        #expect(String(decoding: steps.signature, as: UTF8.self) == expected.signature)
    }

    private func expectHeaders(
        _ headers: some Collection<(String, String)>,
        _ expected: [String: String]?
    ) {
        let ours = headers.map { $0.0.lowercased() + ":" + $0.1 }.sorted()
        let theirs = (expected ?? [:]).map { $0.key.lowercased() + ":" + $0.value }.sorted()
        #expect(ours == theirs)
    }

    private func expectURL(
        _ request: SignableRequest,
        _ endpoint: Endpoint,
        _ vector: SigningVectorCase
    ) {
        let target = request.target(keepsEmptyValues: vector.signer.parameters.keepsEmptyValues)
        let url = UnorderedURL(endpoint.origin(bucket: vector.bucket) + target)
        #expect(url == UnorderedURL(vector.expected.url))
        if let parameters = vector.expected.queryParamsUnordered {
            let expected = parameters.map { $0[1].isEmpty ? $0[0] : $0[0] + "=" + $0[1] }
            #expect(url.query == expected.sorted())
        }
    }
}
