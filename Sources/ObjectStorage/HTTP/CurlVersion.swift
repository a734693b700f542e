#if SystemLibraries
internal import CCurl

/// The versions of the linked libcurl and of the libraries that it uses, for TLS above all, such as
/// `libcurl/7.88.1 OpenSSL/3.0.17 zlib/1.2.13`.
package var curlVersion: String {
    unsafe String(cString: curl_version())
}
#endif
