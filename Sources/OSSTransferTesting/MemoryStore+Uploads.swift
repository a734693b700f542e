internal import OSSTransfer
internal import ObjectStorage
internal import SyncModel

extension MemoryStore {
    static func begin(
        _ key: ObjectKey,
        _ request: MemoryTransport.Request,
        _ state: inout State
    ) -> MemoryTransport.Answer {
        state.writes += 1
        let id = "upload-\(state.writes)"
        state.uploads[id] = Upload(
            key: key,
            headers: kept(request),
            begun: Timestamp(seconds: SystemClocks.now().seconds)
        )
        return document(
            "<InitiateMultipartUploadResult><EncodingType>url</EncodingType><Bucket>\(bucket)"
                + "</Bucket><Key>\(encoded(key))</Key><UploadId>\(id)</UploadId>"
                + "</InitiateMultipartUploadResult>"
        )
    }

    static func ofUpload(
        _ id: String,
        _ key: ObjectKey,
        _ request: MemoryTransport.Request,
        _ address: MemoryAddress,
        _ state: inout State
    ) -> MemoryTransport.Answer {
        guard var upload = state.uploads[id], upload.key == key else {
            return request.method == .delete
                ? MemoryTransport.Answer(status: 204) : failure(404, "NoSuchUpload")
        }
        switch request.method {
        case .put:
            guard let number = address["partNumber"].flatMap({ Int($0) }) else {
                return failure(400, "InvalidArgument")
            }
            let part = object(request.body, [], &state)
            upload.parts[number] = part
            state.uploads[id] = upload
            return MemoryTransport.Answer(status: 200, headers: described(part))
        case .get: return list(upload, id)
        case .delete:
            state.uploads[id] = nil
            return MemoryTransport.Answer(status: 204)
        case .post:
            if request["x-oss-forbid-overwrite"] == "true", state.objects[key] != nil {
                return failure(409, "FileAlreadyExists")
            }
            return complete(upload, id, request, &state)
        case .head: return failure(405, "MethodNotAllowed")
        }
    }

    private static func complete(
        _ upload: Upload,
        _ id: String,
        _ request: MemoryTransport.Request,
        _ state: inout State
    ) -> MemoryTransport.Answer {
        var bytes: [UInt8] = []
        let text = String(decoding: request.body, as: UTF8.self)
        let numbers = MemoryAddress.contents(of: "PartNumber", in: text)
        for (number, tag) in zip(numbers, MemoryAddress.contents(of: "ETag", in: text)) {
            guard let part = Int(number).flatMap({ upload.parts[$0] }),
                unquoted(MemoryAddress.unescaped(tag)) == part.etag
            else { return failure(400, "InvalidPart") }
            bytes += part.bytes
        }
        guard !numbers.isEmpty else { return failure(400, "MalformedXML") }
        var made = object(bytes, upload.headers, &state)
        made.etag += "-\(numbers.count)"
        state.objects[upload.key] = made
        state.uploads[id] = nil
        var answer = document(
            "<CompleteMultipartUploadResult><EncodingType>url</EncodingType><Bucket>\(bucket)"
                + "</Bucket><Key>\(encoded(upload.key))</Key><ETag>\"\(made.etag)\"</ETag>"
                + "</CompleteMultipartUploadResult>"
        )
        answer.headers += described(made)
        return answer
    }

    private static func list(_ upload: Upload, _ id: String) -> MemoryTransport.Answer {
        let parts = upload.parts.sorted { $0.key < $1.key }.map { number, part in
            "<Part><PartNumber>\(number)</PartNumber><LastModified>\(extended(part.modified))"
                + "</LastModified><ETag>\"\(part.etag)\"</ETag><HashCrc64ecma>\(part.crc64)"
                + "</HashCrc64ecma><Size>\(part.bytes.count)</Size></Part>"
        }
        return document(
            "<ListPartsResult><EncodingType>url</EncodingType><Bucket>\(bucket)</Bucket><Key>"
                + encoded(upload.key) + "</Key><UploadId>\(id)</UploadId>"
                + "<IsTruncated>false</IsTruncated>" + parts.joined() + "</ListPartsResult>"
        )
    }
}
