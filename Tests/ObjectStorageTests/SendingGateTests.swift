import Testing

@testable import ObjectStorage

@Suite("Bodies that go at a time")
struct SendingGateTests {
    /// Lets so many bodies go, each as far as `end` says, and returns how many went at once.
    private func send(_ ends: [SendingGate.End], through gate: SendingGate) async -> Int {
        var passes: [SendingGate.Pass] = []
        for _ in ends { passes.append(await gate.enter()) }
        for (pass, end) in zip(passes, ends) { gate.leave(pass, end) }
        return passes.count
    }

    @Test func `without a loss there is no limit`() async {
        let gate = SendingGate()
        #expect(await send(Array(repeating: .arrived, count: 256), through: gate) == 256)
        #expect(await send(Array(repeating: .other, count: 256), through: gate) == 256)
        #expect(gate.limit == nil)
    }

    @Test func `all that one cut ends halves their number once`() async {
        let gate = SendingGate()
        for expected in [8, 4, 2, 1, 1] {
            let count = min(16, gate.limit ?? 16)
            _ = await send(Array(repeating: .lost, count: count), through: gate)
            #expect(gate.limit == expected)
        }
    }

    @Test func `bodies that arrive without a loss in between raise it one by one`() async {
        let gate = SendingGate()
        _ = await send([.lost, .lost, .lost, .lost], through: gate)
        for _ in 0..<7 { _ = await send([.arrived], through: gate) }
        #expect(gate.limit == 2)
        _ = await send([.arrived], through: gate)
        #expect(gate.limit == 3)
        for _ in 0..<7 { _ = await send([.arrived], through: gate) }
        _ = await send([.lost], through: gate)
        #expect(gate.limit == 1)
        _ = await send([.arrived], through: gate)
        #expect(gate.limit == 1)
    }

    @Test func `whoever waits goes when a place is free, or when its task ends`() async {
        let gate = SendingGate()
        _ = await send([.lost], through: gate)
        let first = await gate.enter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<5 {
                group.addTask { gate.leave(await gate.enter(), .other) }
            }
            gate.leave(first, .arrived)
        }
        let held = await gate.enter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<5 {
                group.addTask { gate.leave(await gate.enter(), .other) }
            }
            group.cancelAll()
        }
        gate.leave(held, .arrived)
        gate.leave(await gate.enter(), .arrived)
    }
}
