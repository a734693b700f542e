// What a test knows of a small disk, to judge what a power cut left.
#ifndef OSSSYNC_VIRTUAL_FILES_MODEL_H
#define OSSSYNC_VIRTUAL_FILES_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum { DIRECTORIES = 3, NAMES = 5, STATES = 200 };

/// Which file has each name; 0 is none.
struct state {
    uint8_t file[DIRECTORIES][NAMES];
};

/// The states of a disk after each change of names, and the last of them that is durable: wholly,
/// by the journal, and for each directory.
struct history {
    struct state states[STATES];
    int count;
    int journal;
    int directory[DIRECTORIES];
};

struct chooser {
    uint64_t state;
};
uint64_t choose(struct chooser *chooser, uint64_t limit);

/// Random changes of names and syncs in `/virtual/0`, `/virtual/1`…, kept in `history`.
void model_run(struct history *history, struct chooser *chooser, int calls);
/// The names as the disk has them; false if a file has the wrong content.
bool model_look(struct state *state);

#endif
