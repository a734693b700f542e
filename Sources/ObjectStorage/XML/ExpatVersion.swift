#if SystemLibraries
internal import CExpat

/// The version of the linked expat, such as `expat_2.5.0`.
package var expatVersion: String {
    guard let text = unsafe XML_ExpatVersion() else { return "expat" }
    return unsafe String(cString: text)
}
#endif
