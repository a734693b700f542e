#ifndef OSSSYNC_VIRTUAL_FILES_CHECKS_H
#define OSSSYNC_VIRTUAL_FILES_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

/// Counts one case, and says it if it failed.
void check_case(const char *_Nonnull sentence, bool passed);
/// Says the sums; 0 if nothing failed.
int32_t check_finish(void);

/// SQLite with its log on the virtual disk.
void check_sqlite(void);

#endif
