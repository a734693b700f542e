// Other threads use real files meanwhile.
#if defined(__linux__)
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "virtual_files.h"
#include "virtual_files_checks.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUNDS = 3000 };

static void *use_real_files(void *unused) {
    (void)unused;
    bool is_right = true;
    for (int i = 0; i < ROUNDS && is_right; i++) {
        int ends[2];
        char byte = 0;
        struct stat status;
        is_right = pipe(ends) == 0 && write(ends[1], "x", 1) == 1 && read(ends[0], &byte, 1) == 1
            && byte == 'x' && fstat(ends[0], &status) == 0 && S_ISFIFO(status.st_mode)
            && close(ends[0]) == 0 && close(ends[1]) == 0;
        int file = open("/dev/null", O_RDONLY);
        is_right = is_right && file >= 0 && read(file, &byte, 1) == 0 && close(file) == 0;
    }
    return is_right ? unused : NULL;
}

void check_threads(void) {
    virtual_files_reset();
    pthread_t thread;
    int token = 0;
    pthread_create(&thread, NULL, use_real_files, &token);
    bool is_right = true;
    for (int i = 0; i < ROUNDS && is_right; i++) {
        int file = open("/virtual/f", O_RDWR | O_CREAT, 0644);
        is_right = pwrite(file, "abc", 3, i) == 3 && close(file) == 0;
        if (i % 100 == 0) virtual_files_reboot(VIRTUAL_FILES_POWER, 1, VIRTUAL_FILES_JOURNAL);
    }
    void *answer = NULL;
    pthread_join(thread, &answer);
    check_case("real files are real in other threads", is_right && answer == &token);
}
#endif
