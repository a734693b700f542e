// Tells libcurl which certificate authorities this system trusts.
//
// The libcurl in the archive of `make tarball` was compiled for one distribution and knows the place
// of that one only. scripts/package makes a library of this file, which the program loads before
// libcurl: SSL_CERT_FILE decides, then the first place below that exists. `--ca-file` and the
// bundle of an AWS configuration are set later and win.
#define _GNU_SOURCE
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const places[] = {
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch, Alpine
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, RHEL
    "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, RHEL, until 2025
    "/etc/ssl/ca-bundle.pem",                             // openSUSE, SLES
    "/var/lib/ca-certificates/ca-bundle.pem",             // openSUSE, SLES
    "/etc/ssl/cert.pem",                                  // Alpine
};

static const char *authorities;
static CURL *(*init)(void);
static void (*reset)(CURL *);

__attribute__((constructor)) static void find(void) {
    init = (CURL * (*)(void)) dlsym(RTLD_NEXT, "curl_easy_init");
    reset = (void (*)(CURL *))dlsym(RTLD_NEXT, "curl_easy_reset");
    authorities = secure_getenv("SSL_CERT_FILE");
    if (authorities && *authorities) return;
    authorities = NULL;
    for (size_t index = 0; index < sizeof places / sizeof *places && !authorities; index++)
        if (access(places[index], R_OK) == 0) authorities = places[index];
}

static void specify(CURL *handle) {
    // Without memory for a copy of the text libcurl uses its own place.
    if (handle && authorities) (void)curl_easy_setopt(handle, CURLOPT_CAINFO, authorities);
}

CURL *curl_easy_init(void) {
    CURL *handle = init ? init() : NULL;
    specify(handle);
    return handle;
}

void curl_easy_reset(CURL *handle) {
    if (reset) reset(handle);
    specify(handle);
}
