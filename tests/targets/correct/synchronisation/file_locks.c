/* Threads that open a file each add to a number under its lock: as a whole (`flock`), or a range of it (`F_OFD_SETLKW`). With
 * SHARED they share the lock, so that an addition is lost; with CROSSED they take two locks in either order; with CLOSED the lock
 * ends with its descriptor. */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

enum { RANGE = 8 };

static int total;

static void set(int file, int mode, int place)
{
#ifdef RANGES
    int type = mode == LOCK_UN ? F_UNLCK : mode == LOCK_SH ? F_RDLCK : F_WRLCK;
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = place, .l_len = RANGE};
    int set = fcntl(file, F_OFD_SETLKW, &range) == 0;
#else
    (void)place;
    int set = flock(file, mode) == 0;
#endif
    assert(set);
}

static void *add(void *order)
{
    int swapped = *(int *)order;
#ifdef CROSSED
    int first = open(swapped ? "two" : "one", O_RDWR | O_CREAT, 0600);
    int second = open(swapped ? "one" : "two", O_RDWR | O_CREAT, 0600);
#else
    (void)swapped;
    int first = open("one", O_RDWR | O_CREAT, 0600);
#endif
#ifdef SHARED
    set(first, LOCK_SH, 0);
#else
    set(first, LOCK_EX, 0);
#endif
#ifdef CROSSED
    set(second, LOCK_EX, 0);
#endif
    int seen = __atomic_load_n(&total, __ATOMIC_RELAXED);
    __atomic_store_n(&total, seen + 1, __ATOMIC_RELAXED);
#ifdef CROSSED
    set(second, LOCK_UN, 0);
#endif
#ifndef CLOSED
    set(first, LOCK_UN, 0);
#endif
    close(first);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int orders[] = {0, 1};

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, &orders[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(total == 2);
    return 0;
}
