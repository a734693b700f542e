#ifndef OSSSYNC_VIRTUAL_FILES_CHECKS_H
#define OSSSYNC_VIRTUAL_FILES_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

/// Counts one case, and says it if it failed.
void check_case(const char *_Nonnull sentence, bool passed);
/// Says the sums; 0 if nothing failed.
int32_t check_finish(void);

/// Random calls on real files too; each seed is a case.
void check_against_real_files(uint64_t first, uint64_t count);

/// Hooks, kills, copies and limits.
void check_world(void);

/// Modes, access control lists, times of changes, and damage.
void check_rights(void);

/// What power cuts leave of names, contents and metadata.
void check_power(uint64_t seeds);
void check_power_trees(uint64_t seeds);

/// Real files beside virtual ones.
void check_threads(void);

/// SQLite on the virtual disk, killed before each `stride`th call, with as many power cuts there.
void check_sqlite(uint64_t stride, uint64_t seeds);

#endif
