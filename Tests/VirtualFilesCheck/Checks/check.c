#include "virtual_files_checks.h"

#include <stdio.h>

static int passed_count, failed_count;

void check_case(const char *sentence, bool passed) {
    if (passed) {
        passed_count++;
    } else {
        failed_count++;
        printf("failed: %s\n", sentence);
    }
}

int32_t check_finish(void) {
    printf("%d passed, %d failed\n", passed_count, failed_count);
    return failed_count == 0 && passed_count > 0 ? 0 : 1;
}
