internal import Dispatch

/// Where work runs that blocks: never on the threads of the cooperative pool, which are as few as
/// the processor's cores.
///
/// Made at the entry point; a simulation runs everything on one thread in an order of its own.
package struct BlockingThreads: Sendable {
    /// Begins a piece of work and returns at once.
    package typealias Start = @Sendable (_ work: @escaping @Sendable () -> Void) -> Void

    package enum Order: Sendable {
        /// One piece after the other, as they came.
        case serial
        /// Side by side.
        case concurrent
    }

    /// Makes a queue of the name `label`.
    package var makeQueue: @Sendable (_ label: String, _ order: Order) -> Start

    package init(makeQueue: @escaping @Sendable (_ label: String, _ order: Order) -> Start) {
        self.makeQueue = makeQueue
    }

    /// The system's own threads.
    package static let system = BlockingThreads { label, order in
        let queue = DispatchQueue(label: label, attributes: order == .serial ? [] : .concurrent)
        return { work in queue.async(execute: work) }
    }
}
