internal import CLibrary

/// Input, outputs and errors of the process.
enum StandardDescriptors {
    /// Puts something in the place of those that are closed, so that no file or socket gets their
    /// number and what is meant for them; reading or writing still fails.
    static func occupy() {
        for descriptor in STDIN_FILENO...STDERR_FILENO
        where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The lowest free number, which is this one.
            _ = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
