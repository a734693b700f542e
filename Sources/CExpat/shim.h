#ifndef OSSSYNC_CEXPAT_SHIM_H
#define OSSSYNC_CEXPAT_SHIM_H

#include <expat.h>

#endif
