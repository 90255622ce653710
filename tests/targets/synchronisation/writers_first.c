// A thread takes a lock for reading that it has for reading. That is well unless a writer has come in between and the lock lets
// writers go first, as it does if an argument is given.
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>

static pthread_rwlock_t lock;
static int limit = 3;

static int get_limit(void) {
    pthread_rwlock_rdlock(&lock);
    int now = limit;
    pthread_rwlock_unlock(&lock);
    return now;
}

static void *raise_limit(void *unused) {
    pthread_rwlock_wrlock(&lock);
    limit++;
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(int argc, char **argv) {
    (void)argv;
    pthread_rwlockattr_t kind;
    pthread_rwlockattr_init(&kind);
    if (argc > 1)
        pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&lock, &kind);
    pthread_t raiser;
    pthread_create(&raiser, NULL, raise_limit, NULL);
    pthread_rwlock_rdlock(&lock);
    int same = limit == get_limit();
    pthread_rwlock_unlock(&lock);
    pthread_join(raiser, NULL);
    return !same;
}
