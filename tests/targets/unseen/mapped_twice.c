/* Two threads add to a counter that each of them has at an address of its own. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int *counters[2];

static void *adds(void *counter)
{
    ++*(volatile int *)counter;
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int file = memfd_create("counter", 0);
    assert(file >= 0 && ftruncate(file, 4096) == 0);
    for (int i = 0; i < 2; i++) {
        counters[i] = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        assert(counters[i] != MAP_FAILED);
    }
    pthread_create(&thread, NULL, adds, (void *)counters[0]);
    adds((void *)counters[1]);
    pthread_join(thread, NULL);
    assert(*counters[0] == 2);
    return 0;
}
