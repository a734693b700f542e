#ifndef OSSSYNC_CCURL_SHIM_H
#define OSSSYNC_CCURL_SHIM_H

#include <curl/curl.h>

// curl_easy_setopt and curl_easy_getinfo are variadic; one function for each argument type.
typedef size_t (*osssync_curl_data_callback)(char *, size_t, size_t, void *);
typedef int (*osssync_curl_seek_callback)(void *, curl_off_t, int);
typedef int (*osssync_curl_prerequest_callback)(void *, char *, char *, int, int);
typedef int (*osssync_curl_socket_callback)(void *, curl_socket_t, curlsocktype);

static inline CURLcode osssync_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode osssync_curl_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode osssync_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode osssync_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode osssync_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode osssync_curl_set_data_callback(
    CURL *handle, CURLoption option, osssync_curl_data_callback value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode osssync_curl_set_seek_callback(CURL *handle, osssync_curl_seek_callback value) {
    return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, value);
}
static inline CURLcode osssync_curl_set_prerequest_callback(
    CURL *handle, osssync_curl_prerequest_callback value) {
    return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, value);
}
static inline CURLcode osssync_curl_set_socket_callback(
    CURL *handle, osssync_curl_socket_callback value) {
    return curl_easy_setopt(handle, CURLOPT_SOCKOPTFUNCTION, value);
}
static inline CURLcode osssync_curl_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode osssync_curl_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode osssync_curl_get_pointer(CURL *handle, CURLINFO info, char **value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLMcode osssync_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode osssync_curl_multi_set_socket_function(
    CURLM *multi, curl_socket_callback value, void *pointer) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, pointer);
    return code == CURLM_OK ? curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, value) : code;
}
/// The `data` union of a `CURLMsg` for `CURLMSG_DONE`.
static inline CURLcode osssync_curl_message_result(const CURLMsg *message) {
    return message->data.result;
}

#endif
