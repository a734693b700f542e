import Glibc
import Testing

@testable import LocalStorage

@Suite("Free space")
struct FreeSpaceTests {
    private func space(blocks: UInt, free: UInt, forAll: UInt) -> SystemCalls.FreeSpace {
        var raw = statvfs()
        (raw.f_frsize, raw.f_blocks) = (4096, blocks)
        (raw.f_bfree, raw.f_bavail) = (free, forAll)
        return SystemCalls.FreeSpace(raw)
    }

    @Test func `is what root may have, without what ext4 keeps from everybody`() {
        // A disk of 400 MB with 5 % for root, of which 2 % are no file's.
        let full = space(blocks: 100_000, free: 2_100, forAll: 0)
        #expect((full.bytes, full.mostBytes) == (0, 0))
        let block: Int64 = 4096
        let rest = space(blocks: 100_000, free: 6_000, forAll: 0)
        #expect((rest.bytes, rest.mostBytes) == (0, 3_500 * block))
        let large = space(blocks: 250_000_000, free: 20_000_000, forAll: 7_000_000)
        #expect(large.bytes == 7_000_000 * block)
        #expect(large.mostBytes == 19_995_904 * block)
    }

    @Test func `is all that is free where nothing is kept, and unknown where nothing counts`() {
        let tmpfs = space(blocks: 100, free: 3, forAll: 3)
        #expect((tmpfs.bytes, tmpfs.mostBytes) == (3 * 4096, 3 * 4096))
        #expect(space(blocks: 0, free: 0, forAll: 0).mostBytes == nil)
    }
}
