#ifndef OSSSYNC_CSODIUM_SHIM_H
#define OSSSYNC_CSODIUM_SHIM_H

#include <sodium.h>

#endif
