import OSSSync
import Testing

@Suite("Bandwidth by the time of day")
struct BandwidthTimetableTests {
    @Test func `an entry holds until the next, the last one also after midnight`() {
        let table = BandwidthTimetable([
            .init(minuteOfDay: 19 * 60, bytesPerSecond: nil),
            .init(minuteOfDay: 8 * 60, bytesPerSecond: 1_000),
            .init(minuteOfDay: 12 * 60, bytesPerSecond: 2_000),
        ])
        let limits = [0, 479, 480, 719, 720, 1_139, 1_140, 1_439].map(table.limit)
        #expect(limits == [nil, nil, 1_000, 1_000, 2_000, 2_000, nil, nil])
        let night = BandwidthTimetable([.init(minuteOfDay: 22 * 60, bytesPerSecond: 5)])
        #expect(night.limit(atMinute: 0) == 5 && night.limit(atMinute: 1_400) == 5)
        #expect(BandwidthTimetable([]).limit(atMinute: 0) == nil)
    }
}
