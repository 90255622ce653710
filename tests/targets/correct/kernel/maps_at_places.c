/* Threads map memory of their own at fixed places of the lowest two gigabytes, over whatever is there, and so does `main` before there
 * are any. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { SIZE = 1 << 20, BYTES = 100 };

static const uintptr_t places[] = {0x58000000, 0x60000000, 0x68000000, 0x70000000};

static unsigned char *map(uintptr_t place)
{
    unsigned char *memory =
        mmap((void *)place, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

    assert(memory == (unsigned char *)place);
    memset(memory, 7, SIZE);
    return memory;
}

static void *work(void *step)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const unsigned char *memory = map(places[i] + (uintptr_t)step * 4 * SIZE);
        int sum = 0;

        for (int byte = 0; byte < BYTES; byte++) {
            sum += memory[byte];
        }
        assert(sum == 7 * BYTES);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];

#ifdef EARLY
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        map(places[i]);
    }
#endif
    for (uintptr_t i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, work, (void *)i);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
