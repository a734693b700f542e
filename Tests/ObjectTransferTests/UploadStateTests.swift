import SyncModel
import Testing

@testable import ObjectTransfer

@Suite("An upload")
struct UploadStateTests {
    static let upload = UploadID("U1")
    static let layout = layout(size: 250)

    static func layout(size: Int64) -> PartLayout {
        guard
            let layout = PartLayout(objectSize: size, preferredPartSize: 100, minimumPartSize: 1)
        else { preconditionFailure("the sizes of these tests are possible") }
        return layout
    }

    static func part(_ index: Int) -> UploadedPart {
        let range = layout.range(ofPartAt: index)
        let bytes = [UInt8](repeating: UInt8(index), count: Int(range.length))
        return UploadedPart(
            number: PartNumber(index: index),
            size: range.length,
            etag: ETag(wire: "P\(index)"),
            crc64: CRC64(of: bytes)
        )
    }

    static let whole = CRC64(
        of: [UInt8](repeating: 0, count: 100) + [UInt8](repeating: 1, count: 100)
            + [UInt8](repeating: 2, count: 50)
    )

    static func multipart(streams: Int = 2) -> UploadState {
        UploadState(layout: layout, isMultipart: true, streamLimit: streams)
    }

    @Test func `a small file is put in one request`() {
        var state = UploadState(layout: Self.layout(size: 5), isMultipart: false, streamLimit: 4)
        #expect(state.start() == [.put])
        #expect(state.finishedPut(checksum: CRC64(value: 9)) == [.finish(CRC64(value: 9))])
    }

    @Test func `a lost answer to a put is settled by asking for the object`() {
        var state = UploadState(layout: Self.layout(size: 5), isMultipart: false, streamLimit: 4)
        _ = state.start()
        let lost = ItemFailure.storage(message: "lost")
        #expect(state.failed(.answerLost(lost)) == [.confirmByHead(expected: nil)])
        var other = state
        #expect(state.settled(isOurs: true, checksum: nil) == [.finish(nil)])
        #expect(
            other.settled(isOurs: false, checksum: nil)
                == [.dropCheckpoint, .fail(lost, keepsCheckpoint: false)]
        )
    }

    @Test func `parts are sent a few at a time and completed in order`() {
        var state = Self.multipart()
        #expect(state.start() == [.initiate])
        let first = state.initiated(Self.upload)
        #expect(
            first == [
                .upload(Self.upload, PartNumber(index: 0), ByteRange(offset: 0, length: 100)),
                .upload(Self.upload, PartNumber(index: 1), ByteRange(offset: 100, length: 100)),
            ]
        )
        #expect(
            state.uploaded(Self.part(1)) == [
                .upload(Self.upload, PartNumber(index: 2), ByteRange(offset: 200, length: 50))
            ]
        )
        #expect(state.uploaded(Self.part(2)).isEmpty)
        #expect(
            state.uploaded(Self.part(0))
                == [.complete(Self.upload, [Self.part(0), Self.part(1), Self.part(2)])]
        )
        #expect(state.completed(checksum: Self.whole) == [.finish(Self.whole)])
    }

    @Test func `another checksum than that of the parts is no success`() {
        var state = Self.multipart(streams: 3)
        _ = state.start()
        _ = state.initiated(Self.upload)
        for index in 0..<3 { _ = state.uploaded(Self.part(index)) }
        let effects = state.completed(checksum: CRC64(value: 1))
        #expect(effects.contains(.dropCheckpoint))
        #expect(!effects.contains(.finish(Self.whole)))
    }

    @Test func `a resumed upload sends only what the service lacks`() {
        var state = Self.multipart()
        #expect(state.resume(Self.upload) == [.listParts(Self.upload)])
        #expect(
            state.listed([Self.part(0), Self.part(2)]) == [
                .upload(Self.upload, PartNumber(index: 1), ByteRange(offset: 100, length: 100))
            ]
        )
    }

    @Test func `a listed part of another size is sent again`() {
        var state = Self.multipart(streams: 3)
        _ = state.resume(Self.upload)
        let short = UploadedPart(
            number: PartNumber(index: 0),
            size: 99,
            etag: ETag(wire: "x"),
            crc64: CRC64()
        )
        #expect(state.listed([short, Self.part(1), Self.part(2)]).count == 1)
    }

    @Test func `a listed part of an unknown checksum is sent again`() {
        var state = Self.multipart(streams: 3)
        _ = state.resume(Self.upload)
        var unknown = Self.part(0)
        unknown.crc64 = nil
        #expect(
            state.listed([unknown, Self.part(1), Self.part(2)]) == [
                .upload(Self.upload, PartNumber(index: 0), ByteRange(offset: 0, length: 100))
            ]
        )
    }

    @Test func `a sent part of an unknown checksum ends the upload`() {
        var state = Self.multipart(streams: 1)
        _ = state.start()
        _ = state.initiated(Self.upload)
        var unknown = Self.part(0)
        unknown.crc64 = nil
        #expect(
            state.uploaded(unknown) == [
                .abort(Self.upload), .dropCheckpoint,
                .fail(.sourceKeepsChanging, keepsCheckpoint: false),
            ]
        )
    }

    @Test func `an upload the service forgot begins again, once`() {
        var state = Self.multipart()
        _ = state.start()
        _ = state.initiated(Self.upload)
        #expect(state.failed(.noSuchUpload(nil)) == [.cancelParts, .dropCheckpoint, .initiate])
        _ = state.initiated(UploadID("U2"))
        let effects = state.failed(.noSuchUpload(nil))
        #expect(effects.last == .fail(.uploadVanished(nil), keepsCheckpoint: false))
    }

    @Test func `an upload that an earlier run completed is found, not sent again`() {
        var state = Self.multipart()
        _ = state.resume(Self.upload)
        #expect(state.failed(.noSuchUpload(nil)) == [.confirmByHead(expected: nil)])
        var other = state
        #expect(
            state.settled(isOurs: true, checksum: Self.whole) == [.finish(Self.whole)]
        )
        #expect(
            other.settled(isOurs: false, checksum: nil) == [.dropCheckpoint, .initiate]
        )
    }

    @Test func `an object that somebody else made meanwhile is left alone`() {
        var state = Self.multipart(streams: 3)
        _ = state.start()
        _ = state.initiated(Self.upload)
        for index in 0..<3 { _ = state.uploaded(Self.part(index)) }
        _ = state.failed(.answerLost(.alreadyExists(nil)))
        #expect(
            state.settled(isOurs: false, checksum: nil) == [
                .abort(Self.upload), .dropCheckpoint,
                .fail(.alreadyExists(nil), keepsCheckpoint: false),
            ]
        )
    }

    @Test func `an object that exists is believed of a store where nobody may look`() {
        var state = Self.multipart(streams: 3)
        _ = state.start()
        _ = state.initiated(Self.upload)
        for index in 0..<3 { _ = state.uploaded(Self.part(index)) }
        _ = state.failed(.answerLost(.alreadyExists(nil)))
        let denied = ItemFailure.storage(
            message: "AccessDenied",
            cause: .permission
        )
        let end: [UploadState.Effect] = [
            .abort(Self.upload), .dropCheckpoint,
            .fail(.alreadyExists(nil), keepsCheckpoint: false),
        ]
        #expect(state.failed(.other(denied)) == end)
    }

    @Test func `no such upload at the end may mean that it was completed`() {
        var state = Self.multipart(streams: 3)
        _ = state.start()
        _ = state.initiated(Self.upload)
        for index in 0..<3 { _ = state.uploaded(Self.part(index)) }
        #expect(state.failed(.noSuchUpload(nil)) == [.confirmByHead(expected: Self.whole)])
        #expect(
            state.settled(isOurs: true, checksum: Self.whole) == [.finish(Self.whole)]
        )
    }

    @Test func `a complete that did nothing is asked for again with the same parts`() {
        var state = Self.multipart(streams: 3)
        _ = state.start()
        _ = state.initiated(Self.upload)
        var parts: [UploadedPart] = []
        for index in 0..<3 {
            parts.append(Self.part(index))
            _ = state.uploaded(Self.part(index))
        }
        for _ in 0..<2 {
            _ = state.failed(.answerLost(.cancelled))
            #expect(state.settled(isOurs: false, checksum: nil) == [.listParts(Self.upload)])
            #expect(state.listed(parts) == [.complete(Self.upload, parts)])
        }
        _ = state.failed(.answerLost(.cancelled))
        #expect(
            state.settled(isOurs: false, checksum: nil)
                == [.fail(.cancelled, keepsCheckpoint: true)]
        )
    }

    @Test
    func `without a right to ask for the object, parts are listed, and all is sent once more`() {
        var state = Self.multipart(streams: 3)
        _ = state.start()
        _ = state.initiated(Self.upload)
        for index in 0..<3 { _ = state.uploaded(Self.part(index)) }
        let lost = ItemFailure.storage(message: "lost")
        func refused(_ cause: ItemFailure.StorageCause) -> UploadState.Failure {
            .other(.storage(message: "no", cause: cause))
        }
        _ = state.failed(.answerLost(lost))
        var expired = state
        #expect(
            expired.failed(refused(.expired))
                == [
                    .fail(
                        .storage(message: "no", cause: .expired),
                        keepsCheckpoint: true
                    )
                ]
        )
        #expect(state.failed(refused(.forbidden)) == [.listParts(Self.upload)])
        _ = state.failed(.noSuchUpload(nil))
        #expect(state.failed(refused(.forbidden)) == [.dropCheckpoint, .initiate])
        _ = state.initiated(Self.upload)
        for index in 0..<3 { _ = state.uploaded(Self.part(index)) }
        _ = state.failed(.noSuchUpload(nil))
        #expect(
            state.failed(refused(.forbidden))
                == [.dropCheckpoint, .fail(.uploadVanished(nil), keepsCheckpoint: false)]
        )
    }

    @Test func `refused parts are listed and compared once`() {
        var state = Self.multipart(streams: 3)
        _ = state.start()
        _ = state.initiated(Self.upload)
        for index in 0..<3 { _ = state.uploaded(Self.part(index)) }
        #expect(state.failed(.partsRefused(nil)) == [.listParts(Self.upload)])
        _ = state.listed([Self.part(0), Self.part(1), Self.part(2)])
        #expect(
            state.failed(.partsRefused(nil)) == [
                .abort(Self.upload), .dropCheckpoint,
                .fail(.uploadVanished(nil), keepsCheckpoint: false),
            ]
        )
    }

    @Test func `a file that changes is never completed and leaves no parts`() {
        var state = Self.multipart()
        _ = state.start()
        _ = state.initiated(Self.upload)
        #expect(
            state.failed(.sourceChanged) == [
                .cancelParts, .abort(Self.upload), .dropCheckpoint,
                .fail(.sourceKeepsChanging, keepsCheckpoint: false),
            ]
        )
        #expect(state.uploaded(Self.part(0)).isEmpty)
    }

    @Test func `an interruption keeps the upload for the next run`() {
        var state = Self.multipart()
        _ = state.start()
        _ = state.initiated(Self.upload)
        #expect(
            state.failed(.other(.cancelled))
                == [.cancelParts, .fail(.cancelled, keepsCheckpoint: true)]
        )
    }
}
