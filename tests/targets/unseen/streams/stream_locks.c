// Locks of streams that guard other things: a counter (-DCOUNTS, with the standard output's lock; -DTRIES: one
// thread gives up where it cannot have the lock, and -DBOTH wants both to have had it), or another stream, where a
// call waits for the lock that another thread holds. -DTRY: both threads take the locks in one order.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#ifdef COUNTS
static int count;

static void *work(void *second) {
#ifdef TRIES
    if (second && ftrylockfile(stdout) != 0) return NULL;
    if (!second) flockfile(stdout);
#else
    (void)second;
    flockfile(stdout);
#endif
    count++;
    funlockfile(stdout);
    return NULL;
}
#else
static FILE *left, *right;

static void write_both(FILE *first, FILE *second) {
    flockfile(first);
    fputs("x", second);
    funlockfile(first);
}

static void *work(void *from_right) {
#ifdef TRY
    (void)from_right;
    write_both(left, right);
#else
    write_both(from_right ? right : left, from_right ? left : right);
#endif
    return NULL;
}
#endif

int main(void) {
    pthread_t one, two;
#ifndef COUNTS
    left = tmpfile();
    right = tmpfile();
#endif
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&two, NULL, work, &two);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
#if defined(TRIES) && !defined(BOTH)
    assert(count >= 1);
#elif defined(COUNTS)
    assert(count == 2);
#endif
    return 0;
}
