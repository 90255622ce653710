// A mailbox on the heap, whose flag is a plain number that only the compiler's atomics touch, behind a macro and an inline
// function: what is written before the flag is set is read after it was seen. With -DNO_FLAG the reader does not look, and with -DONE_LINE
// that stands on a line with an atomic access.

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct mailbox {
    uint32_t full;
    int letter;
};

#define RAW_STORE(place, value) __atomic_store_n((place), (value), __ATOMIC_RELEASE)
#define SET(place) \
    RAW_STORE(place, 1)

static inline uint32_t seen(const uint32_t *place)
{
    return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

static struct mailbox *mailbox;
static int received;

static void *sender(void *unused)
{
    mailbox->letter = 7;
    SET(&mailbox->full);
    return unused;
}

int main(void)
{
    mailbox = calloc(1, sizeof *mailbox);
    pthread_t thread;
    pthread_create(&thread, NULL, sender, NULL);
#if defined ONE_LINE
    received = mailbox->letter; (void)seen(&mailbox->full), (void)__atomic_load_n(&mailbox->full, __ATOMIC_ACQUIRE);
#elif defined NO_FLAG
    received = mailbox->letter;
#else
    if (seen(&mailbox->full))
        received = mailbox->letter;
#endif
    pthread_join(thread, NULL);
    return received == 99;
}
