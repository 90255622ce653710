/* Eight bytes are filled by one instruction, a byte at a time, while another thread reads them with one load. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static union {
    char bytes[8];
    volatile uint64_t word;
} place;

static void *fills(void *unused)
{
    void *to = place.bytes;
    uint64_t count = sizeof place.bytes;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(0xff) : "memory");
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, fills, NULL);
    uint64_t word = place.word;
    assert(word == 0 || word == UINT64_MAX);
    pthread_join(thread, NULL);
    return 0;
}
