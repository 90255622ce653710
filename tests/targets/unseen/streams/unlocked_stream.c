// Two threads write letters by a function that leaves the stream's lock to its caller, or by a macro (-DMACRO). -DTRY:
// they take it. -DTRIES: one thread writes as usual, and the other one fails if it cannot have the lock at once.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static FILE *letters;

#ifdef TRIES
static void *write_letter(void *first) {
    if (!first) {
        fputs("xx", letters);
        return NULL;
    }
    assert(ftrylockfile(letters) == 0);
    funlockfile(letters);
    return NULL;
}
#else
static void *write_letter(void *unused) {
    (void)unused;
#ifdef TRY
    flockfile(letters);
#endif
#ifdef MACRO
    putc_unlocked('x', letters);
#else
    fputs_unlocked("x", letters);
#endif
#ifdef TRY
    funlockfile(letters);
#endif
    return NULL;
}
#endif

int main(void) {
    pthread_t one, two;
    letters = tmpfile();
    pthread_create(&one, NULL, write_letter, &one);
    pthread_create(&two, NULL, write_letter, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    assert(ftell(letters) == 2);
    fclose(letters);
    return 0;
}
