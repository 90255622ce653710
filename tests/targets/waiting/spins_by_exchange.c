// A lock of the program's own: who does not get it waits longer from try to try.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int held;
static int count;

static void *increment(void *unused) {
    for (unsigned step = 1; atomic_exchange(&held, 1); step++)
        for (unsigned i = 0; i < step; i++)
            __builtin_ia32_pause();
    count++;
    atomic_store(&held, 0);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, increment, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return count != 2;
}
