#ifndef OSSSYNC_CISAL_SHIM_H
#define OSSSYNC_CISAL_SHIM_H

#include <isa-l/crc.h>
#include <isa-l/crc64.h>

#endif
