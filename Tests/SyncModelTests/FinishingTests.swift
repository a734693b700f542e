internal import SyncModel
internal import Testing

/// Goes on with a task within the call that continues it.
final class Immediate: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        unsafe UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }
}

struct FinishingTests {
    @Test func `work runs to its end although its caller is cancelled`() async {
        let caller = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return await finishing { Task.isCancelled }
        }
        #expect(await !caller.value)
    }

    @Test func `work runs where its caller does`() async {
        let isThere = await withTaskExecutorPreference(Immediate()) {
            await finishing {
                unsafe withUnsafeCurrentTask { unsafe $0?.unownedTaskExecutor != nil }
            }
        }
        #expect(isThere)
    }
}
