extension PauseGate {
    /// How long a pause waits for what is under way before it closes the connections.
    private static let longestDrain = Duration.seconds(2)

    private enum Event<Value: Sendable>: Sendable {
        case ended(Result<Value, ItemFailure>)
        case stopped
    }

    /// Runs `body`, whose task is cancelled when a pause was asked for and little is under way.
    ///
    /// - Returns: What `body` came to; `cancelled` after a pause, and if the task was cancelled.
    package func running<Value: Sendable>(
        _ environment: EngineEnvironment,
        _ body: @escaping @Sendable () async throws(ItemFailure) -> Value
    ) async -> Result<Value, ItemFailure> {
        await withTaskGroup(of: Event<Value>.self) { group in
            group.addTask {
                do throws(ItemFailure) {
                    return .ended(.success(try await body()))
                } catch {
                    return .ended(.failure(error))
                }
            }
            group.addTask {
                await self.untilRaised()
                await self.drain(environment)
                return .stopped
            }
            var result = Result<Value, ItemFailure>.failure(.cancelled)
            for await event in group {
                group.cancelAll()
                if case .ended(let ended) = event { result = ended }
            }
            return result
        }
    }

    private func drain(_ environment: EngineEnvironment) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.untilDrained() }
            // A sleep that is cut short has done its work.
            group.addTask { try? await environment.sleep(Self.longestDrain) }
            _ = await group.next()
            group.cancelAll()
        }
    }

    /// Waits; false if a pause was asked for or the task was cancelled before it was over.
    package func wait(_ duration: Duration, _ environment: EngineEnvironment) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                do {
                    try await environment.sleep(duration)
                    return true
                } catch {
                    return false
                }
            }
            group.addTask {
                await self.untilRaised()
                return false
            }
            let isOver = await group.next() ?? false
            group.cancelAll()
            return isOver
        }
    }
}
