/// The C library of the system, under one name on all of them.

#if canImport(Glibc)
@_exported public import Glibc
#else
@_exported public import Darwin
#endif
