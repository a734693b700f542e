internal import CLibrary
internal import CSystem

/// The attributes that hold access control lists, in the kernel's own form.
enum ListAttribute: String {
    case access = "system.posix_acl_access"
    /// What a directory gives to new files in it.
    case forNewFiles = "system.posix_acl_default"
}

// Who may access a file: its owner, its group and its access control list.
extension SystemCalls {
    /// Enough for 500 entries: more than any file system keeps.
    private static let largestList = 4096

    /// The list of an open file or directory; nil if it has none.
    func list(_ attribute: ListAttribute, of descriptor: Int32) throws(LocalError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: Self.largestList)
        let (count, code) = unsafe bytes.withUnsafeMutableBytes { bytes in
            attempt("fgetxattr") {
                unsafe osssync_get_attribute(
                    descriptor,
                    attribute.rawValue,
                    bytes.baseAddress,
                    bytes.count
                )
            }
        }
        switch code {
        case 0: return [UInt8](bytes[..<count])
        case _ where Self.saysNone(code): return nil
        default: throw failure("fgetxattr", code, nil)
        }
    }

    /// True if an open file or directory may have the list; most have none.
    func mayHaveList(_ attribute: ListAttribute, of descriptor: Int32) -> Bool {
        let (_, code) = attempt("fgetxattr") {
            unsafe osssync_get_attribute(descriptor, attribute.rawValue, nil, 0)
        }
        return !Self.saysNone(code)
    }

    /// True for the answers of files without a list, and of file systems that have none.
    private static func saysNone(_ code: Int32) -> Bool {
        code == ENODATA || code == EOPNOTSUPP || code == ENOTSUP || code == ENOSYS
    }

    func setList(_ list: [UInt8], of descriptor: Int32) throws(LocalError) {
        try check("fsetxattr") {
            unsafe list.withUnsafeBytes { bytes in
                unsafe osssync_set_attribute(
                    descriptor,
                    ListAttribute.access.rawValue,
                    bytes.baseAddress,
                    bytes.count
                )
            }
        }
    }

    /// There need not be one.
    func removeList(_ attribute: ListAttribute, of descriptor: Int32) throws(LocalError) {
        let (_, code) = attempt("fremovexattr") {
            unsafe osssync_remove_attribute(descriptor, attribute.rawValue)
        }
        guard code == 0 || Self.saysNone(code) else { throw failure("fremovexattr", code, nil) }
    }

    /// Gives a file to another group, and to another owner if one is given.
    func setOwner(
        _ descriptor: Int32,
        _ owner: UInt32?,
        group: UInt32
    ) throws(LocalError) {
        try check("fchown") { fchown(descriptor, owner ?? UInt32.max, group) }
    }
}
