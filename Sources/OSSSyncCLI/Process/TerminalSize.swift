internal import CLibrary
internal import CSystem

extension OutputStream {
    /// Columns and lines of the terminal; 80 by 24 if it does not say.
    var size: (columns: Int, lines: Int) {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0,
            size.ws_row > 0
        else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }
}
