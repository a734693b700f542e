// The names are Apple's, and so are their descriptions.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase

// What Darwin has and Glibc lacks, for `Tests/Portable/platforms`: never called, and no proof that
// Apple's SDKs declare it so. Where both have a name, the types of these tell them apart.

@_exported public import Glibc

@discardableResult
public func sysctlbyname(
    _ name: UnsafePointer<CChar>?,
    _ old: UnsafeMutableRawPointer?,
    _ oldLength: UnsafeMutablePointer<Int>?,
    _ new: UnsafeMutableRawPointer?,
    _ newLength: Int
) -> Int32 { 0 }

@discardableResult
public func pthread_create(
    _ thread: UnsafeMutablePointer<pthread_t?>,
    _ attributes: UnsafePointer<pthread_attr_t>?,
    _ run: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?,
    _ context: UnsafeMutableRawPointer?
) -> Int32 { 0 }

extension stat {
    public var st_mtimespec: timespec { st_mtim }
}

// MARK: - posix_spawn

public typealias SpawnActions = UnsafeMutablePointer<posix_spawn_file_actions_t?>
public typealias SpawnAttributes = UnsafeMutablePointer<posix_spawnattr_t?>
public typealias Words = UnsafePointer<UnsafeMutablePointer<CChar>?>

@discardableResult
public func posix_spawn_file_actions_init(_ actions: SpawnActions) -> Int32 { 0 }

@discardableResult
public func posix_spawn_file_actions_destroy(_ actions: SpawnActions) -> Int32 { 0 }

@discardableResult
public func posix_spawn_file_actions_addopen(
    _ actions: SpawnActions,
    _ descriptor: Int32,
    _ path: UnsafePointer<CChar>,
    _ flags: Int32,
    _ mode: mode_t
) -> Int32 { 0 }

@discardableResult
public func posix_spawn_file_actions_adddup2(
    _ actions: SpawnActions,
    _ old: Int32,
    _ new: Int32
) -> Int32 { 0 }

@discardableResult
public func posix_spawn_file_actions_addclose(
    _ actions: SpawnActions,
    _ descriptor: Int32
) -> Int32 { 0 }

@discardableResult
public func posix_spawnattr_init(_ attributes: SpawnAttributes) -> Int32 { 0 }

@discardableResult
public func posix_spawnattr_destroy(_ attributes: SpawnAttributes) -> Int32 { 0 }

@discardableResult
public func posix_spawnattr_setsigmask(
    _ attributes: SpawnAttributes,
    _ signals: UnsafePointer<sigset_t>
) -> Int32 { 0 }

@discardableResult
public func posix_spawnattr_setsigdefault(
    _ attributes: SpawnAttributes,
    _ signals: UnsafePointer<sigset_t>
) -> Int32 { 0 }

@discardableResult
public func posix_spawnattr_setpgroup(_ attributes: SpawnAttributes, _ group: pid_t) -> Int32 { 0 }

@discardableResult
public func posix_spawnattr_setflags(_ attributes: SpawnAttributes, _ flags: Int16) -> Int32 { 0 }

@discardableResult
public func posix_spawnp(
    _ process: UnsafeMutablePointer<pid_t>?,
    _ program: UnsafePointer<CChar>,
    _ actions: UnsafePointer<posix_spawn_file_actions_t?>?,
    _ attributes: UnsafePointer<posix_spawnattr_t?>?,
    _ words: Words,
    _ environment: Words
) -> Int32 { 0 }
