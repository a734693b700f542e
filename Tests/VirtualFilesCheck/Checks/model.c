#if defined(__linux__)
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "model.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t choose(struct chooser *chooser, uint64_t limit) {
    chooser->state += 0x9E3779B97F4A7C15u;
    uint64_t value = chooser->state;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    return (value ^ (value >> 31)) % limit;
}

static void path_of(int directory, int name, char path[40]) {
    snprintf(path, 40, "/virtual/%d/%c", directory, 'a' + name);
}

static void sync_directory(int directory) {
    char path[40];
    snprintf(path, sizeof path, "/virtual/%d", directory);
    int descriptor = open(path, O_RDONLY | O_DIRECTORY);
    fsync(descriptor);
    close(descriptor);
}

static void sync_disk(void) {
    int descriptor = open("/virtual", O_RDONLY | O_DIRECTORY);
    syncfs(descriptor);
    close(descriptor);
}

/// A file holds its own number, which is durable before it has a second name.
static bool create(const char *path, uint8_t file) {
    int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL, 0644);
    if (descriptor < 0) return false;
    bool is_done = write(descriptor, &file, 1) == 1 && fdatasync(descriptor) == 0;
    close(descriptor);
    return is_done;
}

static struct state *add_state(struct history *history) {
    struct state *state = &history->states[history->count];
    *state = history->states[history->count - 1];
    history->count++;
    return state;
}

static void change(struct history *history, struct chooser *chooser) {
    char path[40], other[40];
    int directory = (int)choose(chooser, DIRECTORIES);
    int name = (int)choose(chooser, NAMES);
    path_of(directory, name, path);
    const struct state *now = &history->states[history->count - 1];
    uint8_t file = now->file[directory][name];
    if (file == 0) {
        // Files that were removed leave their number to nobody.
        uint8_t new = (uint8_t)(history->count + 1);
        if (create(path, new)) add_state(history)->file[directory][name] = new;
    } else if (choose(chooser, 3) == 0) {
        if (unlink(path) == 0) add_state(history)->file[directory][name] = 0;
    } else {
        int new_directory = (int)choose(chooser, DIRECTORIES);
        int new_name = (int)choose(chooser, NAMES);
        if (new_directory == directory && new_name == name) return;
        path_of(new_directory, new_name, other);
        if (rename(path, other) != 0) return;
        struct state *state = add_state(history);
        state->file[directory][name] = 0;
        state->file[new_directory][new_name] = file;
    }
}

void model_run(struct history *history, struct chooser *chooser, int calls) {
    memset(history, 0, sizeof *history);
    history->count = 1;
    for (int i = 0; i < DIRECTORIES; i++) {
        char path[40];
        snprintf(path, sizeof path, "/virtual/%d", i);
        mkdir(path, 0755);
    }
    sync_disk();
    for (int i = 0; i < calls; i++) {
        uint64_t choice = choose(chooser, 14);
        int last = history->count - 1;
        if (choice == 0) {
            sync_disk();
            history->journal = last;
            for (int k = 0; k < DIRECTORIES; k++) history->directory[k] = last;
        } else if (choice == 1) {
            int directory = (int)choose(chooser, DIRECTORIES);
            sync_directory(directory);
            history->journal = last;
            history->directory[directory] = last;
        } else {
            change(history, chooser);
        }
    }
}

bool model_look(struct state *state) {
    memset(state, 0, sizeof *state);
    for (int i = 0; i < DIRECTORIES; i++) {
        for (int k = 0; k < NAMES; k++) {
            char path[40];
            path_of(i, k, path);
            int descriptor = open(path, O_RDONLY);
            if (descriptor < 0) continue;
            bool is_read = read(descriptor, &state->file[i][k], 1) == 1;
            close(descriptor);
            if (!is_read || state->file[i][k] == 0) return false;
        }
    }
    return true;
}
#endif
