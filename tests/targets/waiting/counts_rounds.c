// The first thread waits for the second one in a loop that counts its rounds, so that it is never where it was before.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int done;
static int result;

static void *work(void *unused) {
    result = 7;
    atomic_store(&done, 1);
    return unused;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    unsigned long rounds = 0;
    while (!atomic_load(&done))
        rounds++;
    pthread_join(worker, NULL);
    return result != 7 || rounds == 123456;
}
