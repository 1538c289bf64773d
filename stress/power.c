/* Records what a program does to the files below a folder, in order: one line a call, and after a write its bytes.
   Preloaded by stress/power.py; POWER_ROOT is the folder, and POWER_LOG the record. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)
#define MOST 65536

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char followed[MOST]; /* descriptors of files below the folder */
static int record_to = -1;

/* Write the absolute path of a name in a folder; whether it is below the folder that is followed. */
static int whole(int at, const char *name, char *path) {
    const char *root = getenv("POWER_ROOT");
    char link[64], base[PATH_MAX] = "";
    if (name[0] != '/') {
        if (at == AT_FDCWD) { if (!getcwd(base, sizeof base)) return 0; }
        else {
            snprintf(link, sizeof link, "/proc/self/fd/%d", at);
            ssize_t n = readlink(link, base, sizeof base - 1);
            if (n < 0) return 0;
            base[n] = 0;
        }
    }
    snprintf(path, 2 * PATH_MAX, "%s%s%s", base, name[0] == '/' ? "" : "/", name);
    size_t n = root ? strlen(root) : 0;
    return n && !strncmp(path, root, n) && (!path[n] || path[n] == '/');
}

static void put(const void *bytes, size_t n) {
    REAL(ssize_t, "write", int, const void *, size_t);
    if (record_to < 0) {
        REAL(int, "open", const char *, int, ...);
        record_to = real(getenv("POWER_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
    if (real(record_to, bytes, n) != (ssize_t)n) abort();
}

static void note(char kind, long long a, long long b, const char *first, const char *second) {
    char line[5 * PATH_MAX];
    put(line, snprintf(line, sizeof line, "%c\t%lld\t%lld\t%s\t%s\n", kind, a, b, first, second));
}

static int opened(int fd, int at, const char *name, int flags) {
    char path[2 * PATH_MAX];
    if (fd < 0 || fd >= MOST) return fd;
    followed[fd] = (flags & O_TMPFILE) != O_TMPFILE && whole(at, name, path);
    if (followed[fd]) note('o', fd, flags & O_TRUNC ? 1 : 0, path, "");
    return fd;
}

static void wrote(int fd, const void *bytes, ssize_t n, off_t at) {
    if (n <= 0) return;
    char size[32];
    snprintf(size, sizeof size, "%zd", n);
    note('w', fd, at, size, "");
    put(bytes, n);
}

#define MODE va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more)
#define LOCKED(type, call, after) \
    pthread_mutex_lock(&lock); type result = call; after; pthread_mutex_unlock(&lock); return result

#define OPEN(name) int name(const char *path, int flags, ...) { \
    MODE; REAL(int, #name, const char *, int, ...); \
    LOCKED(int, real(path, flags, mode), opened(result, AT_FDCWD, path, flags)); }
#define OPENAT(name) int name(int at, const char *path, int flags, ...) { \
    MODE; REAL(int, #name, int, const char *, int, ...); \
    LOCKED(int, real(at, path, flags, mode), opened(result, at, path, flags)); }
OPEN(open) OPEN(open64) OPENAT(openat) OPENAT(openat64)

#define FOLLOWED(fd) ((fd) >= 0 && (fd) < MOST && followed[fd])
ssize_t write(int fd, const void *bytes, size_t n) {
    REAL(ssize_t, "write", int, const void *, size_t);
    if (!FOLLOWED(fd)) return real(fd, bytes, n);
    LOCKED(ssize_t, real(fd, bytes, n), wrote(fd, bytes, result, lseek(fd, 0, SEEK_CUR) - result));
}
#define PWRITE(name, offset) ssize_t name(int fd, const void *bytes, size_t n, offset at) { \
    REAL(ssize_t, #name, int, const void *, size_t, offset); \
    if (!FOLLOWED(fd)) return real(fd, bytes, n, at); \
    LOCKED(ssize_t, real(fd, bytes, n, at), wrote(fd, bytes, result, at)); }
PWRITE(pwrite, off_t) PWRITE(pwrite64, off64_t)

int close(int fd) {
    REAL(int, "close", int);
    if (fd >= 0 && fd < MOST) followed[fd] = 0;
    return real(fd);
}

#define ON_FILE(name, kind, size, ...) int name(__VA_ARGS__) { \
    REAL(int, #name, __VA_ARGS__); \
    LOCKED(int, ON_CALL, if (!result && FOLLOWED(fd)) note(kind, fd, size, "", "")); }
#define ON_CALL real(fd)
ON_FILE(fsync, 'f', 0, int fd) ON_FILE(fdatasync, 'f', 0, int fd)
#undef ON_CALL
#define ON_CALL real(fd, size)
ON_FILE(ftruncate, 't', size, int fd, off_t size) ON_FILE(ftruncate64, 't', size, int fd, off64_t size)

static void named(int result, char kind, int at, const char *name, int to, const char *goal) {
    char first[2 * PATH_MAX], second[2 * PATH_MAX] = "";
    if (!result && whole(at, name, first) && (!goal || whole(to, goal, second))) note(kind, 0, 0, first, second);
}
#define ON_NAME(name, kind, at, path, to, goal, call, ...) int name(__VA_ARGS__) { \
    REAL(int, #name, __VA_ARGS__); \
    LOCKED(int, call, named(result, kind, at, path, to, goal)); }
ON_NAME(rename, 'r', AT_FDCWD, a, AT_FDCWD, b, real(a, b), const char *a, const char *b)
ON_NAME(renameat, 'r', at, a, to, b, real(at, a, to, b), int at, const char *a, int to, const char *b)
ON_NAME(unlink, 'u', AT_FDCWD, a, 0, NULL, real(a), const char *a)
ON_NAME(unlinkat, 'u', at, a, 0, NULL, real(at, a, flags), int at, const char *a, int flags)
ON_NAME(rmdir, 'u', AT_FDCWD, a, 0, NULL, real(a), const char *a)
ON_NAME(mkdir, 'm', AT_FDCWD, a, 0, NULL, real(a, mode), const char *a, mode_t mode)
ON_NAME(mkdirat, 'm', at, a, 0, NULL, real(at, a, mode), int at, const char *a, mode_t mode)
