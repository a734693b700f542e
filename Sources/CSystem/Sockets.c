#define _GNU_SOURCE
#include "CSystem.h"

#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#if defined(__linux__)
#include <linux/sockios.h>
#include <linux/tcp.h>

int64_t osssync_socket_bytes_sent(int socket) {
    struct tcp_info info;
    socklen_t length = sizeof info;
    memset(&info, 0, sizeof info);
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return -1;
    return (int64_t)(info.tcpi_bytes_sent - info.tcpi_bytes_retrans);
}

void osssync_socket_reset(int socket) {
    int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    for (int round = 0; round < 2000; round++) {
        int unsent = 0;
        if (ioctl(socket, SIOCOUTQ, &unsent) != 0 || unsent == 0) break;
        poll(NULL, 0, 1);
    }
    // Dissolving the association of an established connection sends RST at once.
    struct sockaddr nowhere;
    memset(&nowhere, 0, sizeof nowhere);
    nowhere.sa_family = AF_UNSPEC;
    connect(socket, &nowhere, sizeof nowhere);
}
#else
int64_t osssync_socket_bytes_sent(int socket) {
    (void)socket;
    return -1;
}

void osssync_socket_reset(int socket) {
    struct linger none = {.l_onoff = 1, .l_linger = 0};
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}
#endif
