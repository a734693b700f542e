// Who may do what, access control lists, the time of a change, and damage that no time shows.
#if defined(__linux__)
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "virtual_files.h"
#include "virtual_files_checks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { OTHER_USER = 61001, OTHER_GROUP = 61002, THIRD_GROUP = 61003 };

static int make(const char *path, mode_t mode) {
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, mode);
    if (file < 0) return errno;
    ssize_t count = pwrite(file, "abcd", 4, 0);
    close(file);
    return count == 4 ? 0 : EIO;
}

static int opened(const char *path, int flags) {
    int file = open(path, flags | O_CLOEXEC);
    if (file < 0) return errno;
    close(file);
    return 0;
}

/// What others gave a path, whom nothing is refused.
static void give(const char *path, uid_t user, gid_t group, mode_t mode) {
    virtual_files_set_hook_enabled(false);
    chown(path, user, group);
    chmod(path, mode);
    virtual_files_set_hook_enabled(true);
}

static mode_t mode_of(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? status.st_mode & 07777 : 0;
}

/// A list of an owner, one user, the group, a mask and the others.
static void make_list(uint8_t list[44], int user_bits, int group_bits, int mask, int others) {
    const uint32_t nobody = UINT32_MAX, user = OTHER_USER;
    const struct {
        uint16_t tag, bits;
        uint32_t id;
    } entries[5] = {
        {1, 6, nobody}, {2, (uint16_t)user_bits, user}, {4, (uint16_t)group_bits, nobody},
        {16, (uint16_t)mask, nobody}, {32, (uint16_t)others, nobody},
    };
    const uint32_t version = 2;
    memcpy(list, &version, 4);
    memcpy(list + 4, entries, sizeof entries);
}

static void check_modes(void) {
    make("/virtual/file", 0600);
    mkdir("/virtual/d", 0755);
    make("/virtual/d/inside", 0644);
    give("/virtual/file", OTHER_USER, THIRD_GROUP, 0600);
    check_case("another's private file is not opened", opened("/virtual/file", O_RDONLY) == EACCES);
    check_case("nor is its mode changed", chmod("/virtual/file", 0644) == -1 && errno == EPERM);
    give("/virtual/file", OTHER_USER, OTHER_GROUP, 0640);
    check_case("a group's file is read", opened("/virtual/file", O_RDONLY) == 0);
    check_case("and not written", opened("/virtual/file", O_WRONLY) == EACCES);
    give("/virtual/d", OTHER_USER, THIRD_GROUP, 0700);
    check_case("nothing is found in a closed directory",
        opened("/virtual/d/inside", O_RDONLY) == EACCES);
    give("/virtual/d", OTHER_USER, THIRD_GROUP, 0755);
    check_case("no name is made in another's directory", make("/virtual/d/new", 0644) == EACCES);
    give("/virtual/d", OTHER_USER, THIRD_GROUP, 01777);
    give("/virtual/d/inside", OTHER_USER, THIRD_GROUP, 0666);
    check_case("a sticky directory keeps what is another's",
        unlink("/virtual/d/inside") == -1 && errno == EPERM);
    check_case("one's own may go", make("/virtual/d/own", 0644) == 0
        && unlink("/virtual/d/own") == 0);
    give("/virtual/d", OTHER_USER, OTHER_GROUP, 02777);
    make("/virtual/d/of-group", 0644);
    struct stat status;
    check_case("a set-group-ID directory gives its group",
        stat("/virtual/d/of-group", &status) == 0 && status.st_gid == OTHER_GROUP);
}

static void check_lists(void) {
    uint8_t list[44];
    make_list(list, 6, 0, 6, 0);
    make("/virtual/listed", 0600);
    check_case("a list is taken",
        setxattr("/virtual/listed", "system.posix_acl_access", list, sizeof list, 0) == 0);
    check_case("the mode shows the mask", mode_of("/virtual/listed") == 0660);
    const char *path = "/virtual/listed";
    check_case("the user in it may write", virtual_files_granted(path, OTHER_USER, 1) == 6);
    check_case("the group may not", virtual_files_granted(path, 1, getegid()) == 0);
    chmod("/virtual/listed", 0640);
    check_case("a mode narrows the mask", virtual_files_granted(path, OTHER_USER, 1) == 4);
    uint8_t found[44];
    ssize_t size = getxattr(path, "system.posix_acl_access", found, sizeof found);
    check_case("it is given back", size == 44 && found[28 + 2] == 4);
    mkdir("/virtual/shared", 0755);
    setxattr("/virtual/shared", "system.posix_acl_default", list, sizeof list, 0);
    uint32_t bits = virtual_files_granted_new("/virtual/shared", 1, 1);
    make("/virtual/shared/new", 0666);
    check_case("a default list counts in the place of the mask of modes",
        mode_of("/virtual/shared/new") == 0660 && bits == 0);
    check_case("what is told of new files holds",
        virtual_files_granted("/virtual/shared/new", OTHER_USER, 1) == 6);
}

static bool moved(const char *path, struct timespec *last) {
    struct stat status;
    stat(path, &status);
    bool is_other = status.st_ctim.tv_sec != last->tv_sec;
    *last = status.st_ctim;
    static int64_t second = 1000;
    virtual_files_set_time(++second, 0);
    return is_other;
}

static void check_changes(void) {
    const char *path = "/virtual/changed";
    virtual_files_set_time(900, 0);
    make(path, 0644);
    struct timespec last = {0, 0};
    moved(path, &last);
    chmod(path, 0600);
    check_case("a mode moves the time of the change", moved(path, &last));
    link(path, "/virtual/second");
    check_case("so does another name", moved(path, &last));
    unlink("/virtual/second");
    check_case("its end", moved(path, &last));
    rename(path, "/virtual/third");
    check_case("a rename", moved("/virtual/third", &last));
    struct timespec times[2] = {{1, 0}, {1, 0}};
    utimensat(AT_FDCWD, "/virtual/third", times, 0);
    check_case("another time of the content", moved("/virtual/third", &last));
    opened("/virtual/third", O_RDONLY);
    check_case("reading does not", !moved("/virtual/third", &last));
    char text[4];
    bool is_done = virtual_files_damage("/virtual/third", 1, 0x20);
    check_case("nor does damage", is_done && !moved("/virtual/third", &last));
    int file = open("/virtual/third", O_RDONLY | O_CLOEXEC);
    check_case("which is read", pread(file, text, 4, 0) == 4 && memcmp(text, "aBcd", 4) == 0);
    close(file);
}

void check_rights(void) {
    virtual_files_reset();
    check_changes();
    virtual_files_set_rights(OTHER_GROUP);
    virtual_files_set_umask(022);
    check_modes();
    check_lists();
    virtual_files_reset();
}
#endif
