#ifndef OSSSYNC_CMICROHTTPD_SHIM_H
#define OSSSYNC_CMICROHTTPD_SHIM_H

#include <microhttpd.h>

/// `MHD_start_daemon` with the options the server uses; the original is variadic. Port and address
/// come from `address`.
static inline struct MHD_Daemon *osssync_start_daemon(
    unsigned int flags, const struct sockaddr *address, MHD_AccessHandlerCallback handler,
    void *context, void *(*target)(void *, const char *, struct MHD_Connection *),
    size_t (*unescape)(void *, struct MHD_Connection *, char *),
    MHD_RequestCompletedCallback completed, unsigned int connection_limit, size_t memory_limit) {
    return MHD_start_daemon(
        flags, 0, 0, 0, handler, context, MHD_OPTION_SOCK_ADDR, address,
        MHD_OPTION_URI_LOG_CALLBACK, target, context, MHD_OPTION_UNESCAPE_CALLBACK, unescape,
        context, MHD_OPTION_NOTIFY_COMPLETED, completed, context, MHD_OPTION_CONNECTION_LIMIT,
        connection_limit, MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory_limit,
        MHD_OPTION_LISTEN_BACKLOG_SIZE, 1024u, MHD_OPTION_END);
}

/// The port the daemon listens on; 0 if it does not say.
static inline int osssync_daemon_port(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}

/// The socket of a connection; -1 if there is none.
static inline int osssync_connection_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/// Sends `Connection: Keep-Alive`; lets a wrong Content-Length through if `insane` is not 0.
static inline void osssync_set_response_flags(struct MHD_Response *response, int insane) {
    enum MHD_ResponseFlags flags = MHD_RF_SEND_KEEP_ALIVE_HEADER;
    if (insane) flags = (enum MHD_ResponseFlags)(flags | MHD_RF_INSANITY_HEADER_CONTENT_LENGTH);
    MHD_set_response_options(response, flags, MHD_RO_END);
}

#endif
