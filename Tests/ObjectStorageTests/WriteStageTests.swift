import Testing

@testable import ObjectStorage

@Suite("Gathering received pieces")
struct WriteStageTests {
    @Test func `small pieces are gathered to blocks that end at aligned offsets`() {
        let file = ScratchFile()
        let stage = WriteStage(descriptor: file.descriptor)
        let piece = ramp(16 << 10)
        let start: Int64 = 5
        var gathered = 0
        while !stage.isFull {
            unsafe piece.withUnsafeBytes { bytes in
                gathered += unsafe stage.append(bytes, at: start)
            }
        }
        #expect(start + Int64(gathered) == 256 << 10)
        #expect(stage.count == gathered)
        stage.clear()
        #expect(stage.count == 0)
        #expect(!stage.isFull)
    }
}
