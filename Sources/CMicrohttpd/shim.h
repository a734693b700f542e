#ifndef OSSSYNC_CMICROHTTPD_SHIM_H
#define OSSSYNC_CMICROHTTPD_SHIM_H

#include <microhttpd.h>

#endif
