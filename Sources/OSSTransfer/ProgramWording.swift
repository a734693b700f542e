internal import SyncModel

/// Does what the program does, in whose messages options take the place of properties.
package func namingOptions<Value>(_ body: () throws -> Value) rethrows -> Value {
    try Wording.$namesOptions.withValue(true, operation: body)
}
