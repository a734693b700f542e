import Testing

/// Whole runs of the engine against a server in this process.
///
/// Each has threads and descriptors of its own: `.ci/run` says how many tests run at once.
@Suite("Runs", .timeLimit(.minutes(10)))
enum EngineRuns {}
