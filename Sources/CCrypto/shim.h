#ifndef OSSSYNC_CCRYPTO_SHIM_H
#define OSSSYNC_CCRYPTO_SHIM_H

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#endif
