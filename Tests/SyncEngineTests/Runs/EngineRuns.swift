import Testing

/// Whole runs of the engine against a server in this process: one after the other, because each
/// has threads and descriptors of its own.
@Suite("Runs", .serialized, .timeLimit(.minutes(5)))
enum EngineRuns {}
