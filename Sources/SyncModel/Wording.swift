/// Whose words messages use: those of an app's developer, who sets properties, or those of the
/// program's user, who specifies options.
package enum Wording {
    /// True in the task of the program, and in those that it starts.
    @TaskLocal package static var namesOptions = false

    /// What a message says to a caller of the library, or to a user of the program.
    package static func of(library: String, program: String) -> String {
        namesOptions ? program : library
    }
}
