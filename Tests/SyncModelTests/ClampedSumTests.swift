import SyncModel
import Testing

@Suite("Sums that stop at the largest number")
struct ClampedSumTests {
    @Test(
        arguments: [
            (0, 0, 0), (1, 2, 3), (5, -7, -2), (.max, 0, .max), (.max, 1, .max),
            (.max, .max, .max), (.max - 1, 1, .max), (.min, -1, .min), (.min, .min, .min),
            (.max, .min, -1), (.min, .max, -1),
        ] as [(Int64, Int64, Int64)]
    )
    func `a sum is right, or the nearest number that there is`(
        first: Int64,
        second: Int64,
        sum: Int64
    ) {
        #expect(first.addingClamped(second) == sum)
    }
}
