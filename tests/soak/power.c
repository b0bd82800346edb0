/* Remembers what a loss of power would take away. Loaded before the C library (LD_PRELOAD), it keeps for every file below
 * the folder POWER_FOLDER what its bytes and its size were before each write since the file's last sync, in an undo journal
 * of the same name in the folder POWER_JOURNALS. The test kills the process and plays the journals backwards: what is left
 * then is what a disk holds that has lost its cache.
 *
 * A journal is a row of records: offset of the change, size of the file before, length of the bytes before, the bytes
 * (three 64-bit numbers and the bytes, in this machine's order). It is written before the change, and emptied after a sync.
 * A sync takes POWER_SYNC_US microseconds longer than this machine's disk needs, so that cuts fall into it. With
 * POWER_FORGETS_SYNCS_OF=SUFFIX, syncs of files whose names end so are answered and not done.
 *
 * Names are taken to be durable at once: creation and removal of files are not undone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void fail(const char *what) {
    fprintf(stderr, "power: %s: %s\n", what, strerror(errno));
    abort();
}

/* The journal's path for a file that is watched, else 0. */
static int journal_of(int fd, char *journal, size_t room, const char **name) {
    static __thread char path[4096];
    const char *folder = getenv("POWER_FOLDER"), *journals = getenv("POWER_JOURNALS");
    char link[64];
    if (!folder || !journals) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    size_t prefix = strlen(folder);
    if (strncmp(path, folder, prefix) != 0 || path[prefix] != '/') return 0;
    *name = path + prefix + 1;
    /* Shared memory is rebuilt after a crash and never synced. */
    if (strchr(*name, '/') || strstr(*name, "-shm")) return 0;
    snprintf(journal, room, "%s/%s", journals, *name);
    return 1;
}

/* Keeps what [offset, offset + length) of the file holds; to be called with the lock. */
static void keep(int fd, off_t offset, size_t length) {
    char journal[8192];
    const char *name;
    struct stat before;
    if (!journal_of(fd, journal, sizeof journal, &name)) return;
    if (fstat(fd, &before) != 0) fail("fstat");
    uint64_t there = offset >= before.st_size ? 0 : (uint64_t)(before.st_size - offset);
    if (there > length) there = length;
    uint64_t head[3] = {(uint64_t)offset, (uint64_t)before.st_size, there};
    char *record = malloc(sizeof head + there);
    if (!record) fail("malloc");
    memcpy(record, head, sizeof head);
    if (there && syscall(SYS_pread64, fd, record + sizeof head, there, offset) != (ssize_t)there) fail("pread");
    int to = (int)syscall(SYS_openat, AT_FDCWD, journal, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (to < 0) fail(journal);
    if (syscall(SYS_write, to, record, sizeof head + there) != (ssize_t)(sizeof head + there)) fail("write");
    syscall(SYS_close, to);
    free(record);
}

static int sync_file(int fd, int (*real)(int)) {
    char journal[8192];
    const char *name = "";
    int watched = journal_of(fd, journal, sizeof journal, &name), done = 0;
    const char *delay = getenv("POWER_SYNC_US");
    if (watched && delay) usleep((useconds_t)atoi(delay));
    pthread_mutex_lock(&lock);
    const char *suffix = getenv("POWER_FORGETS_SYNCS_OF");
    size_t length = strlen(name), end = suffix ? strlen(suffix) : 0;
    if (!(watched && suffix && length >= end && strcmp(name + length - end, suffix) == 0)) {
        done = real(fd);
        if (watched && done == 0) truncate(journal, 0);
    }
    pthread_mutex_unlock(&lock);
    return done;
}

static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) fail(name);
    return found;
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
    pthread_mutex_lock(&lock);
    keep(fd, offset, length);
    ssize_t written = syscall(SYS_pwrite64, fd, bytes, length, offset);
    pthread_mutex_unlock(&lock);
    return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) { return pwrite64(fd, bytes, length, offset); }

ssize_t write(int fd, const void *bytes, size_t length) {
    char journal[8192];
    const char *name;
    if (!journal_of(fd, journal, sizeof journal, &name)) return syscall(SYS_write, fd, bytes, length);
    pthread_mutex_lock(&lock);
    off_t offset = lseek(fd, 0, (fcntl(fd, F_GETFL) & O_APPEND) ? SEEK_END : SEEK_CUR);
    keep(fd, offset, length);
    ssize_t written = syscall(SYS_write, fd, bytes, length);
    pthread_mutex_unlock(&lock);
    return written;
}

int ftruncate64(int fd, off64_t size) {
    struct stat before;
    pthread_mutex_lock(&lock);
    if (fstat(fd, &before) == 0) keep(fd, size, before.st_size > size ? (size_t)(before.st_size - size) : 0);
    int done = (int)syscall(SYS_ftruncate, fd, size);
    pthread_mutex_unlock(&lock);
    return done;
}

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int fsync(int fd) { return sync_file(fd, (int (*)(int))real("fsync")); }

int fdatasync(int fd) { return sync_file(fd, (int (*)(int))real("fdatasync")); }

/* A file that is gone has nothing to undo. */
int unlink(const char *path) {
    const char *folder = getenv("POWER_FOLDER"), *journals = getenv("POWER_JOURNALS");
    size_t prefix = folder ? strlen(folder) : 0;
    if (folder && journals && strncmp(path, folder, prefix) == 0 && path[prefix] == '/') {
        char journal[8192];
        snprintf(journal, sizeof journal, "%s%s", journals, path + prefix);
        truncate(journal, 0);
    }
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}
