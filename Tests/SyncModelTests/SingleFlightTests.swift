import SyncModel
import Testing

@Suite("Single flight")
struct SingleFlightTests {
    @Test func `one asks and the others wait until it ends`() async {
        let flight = SingleFlight()
        #expect(flight.begin())
        #expect(!flight.begin())
        await withTaskGroup { group in
            for _ in 0..<10 { group.addTask { await flight.ended() } }
            flight.end()
            await group.waitForAll()
        }
        await flight.ended()
        #expect(flight.begin())
    }

    private actor Cache {
        private let flight = SingleFlight()
        private var answer: Int?
        private(set) var questions = 0

        func ask() async -> Int {
            while true {
                if let answer { return answer }
                guard flight.begin() else {
                    await flight.ended()
                    continue
                }
                defer { flight.end() }
                questions += 1
                for _ in 0..<100 { await Task.yield() }
                answer = 7
                return 7
            }
        }
    }

    @Test func `all who wait look at the answer and ask no more`() async {
        let cache = Cache()
        await withTaskGroup { group in
            for _ in 0..<50 { group.addTask { await cache.ask() } }
            for await answer in group { #expect(answer == 7) }
        }
        #expect(await cache.questions == 1)
    }
}
