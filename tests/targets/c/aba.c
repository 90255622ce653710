/* A stack of three plates without a lock: main takes two, a waiter takes two and puts the first one back.
 *
 * Wrong (ABA): main sees the plate on top and the one below, and makes that one the top if the top is what it was. The waiter
 * can take both meanwhile and put the first one back: the top is what it was, and the one below is in use.
 * Finding: assertion, in `use`.
 * Preemptions: 1. With 0, one comes after the other. With 1: stop main before its compare-and-swap, and let the waiter run.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { PLATES = 3, NONE = -1 };

static atomic_int top = 0;
static atomic_int below[PLATES] = {1, 2, NONE};
static atomic_int users[PLATES];

static int take(void)
{
    int seen = atomic_load(&top);

    while (seen != NONE) {
        int next = atomic_load(&below[seen]);
        if (atomic_compare_exchange_strong(&top, &seen, next))
            break;
    }
    return seen;
}

static void put(int plate)
{
    int seen = atomic_load(&top);

    do
        atomic_store(&below[plate], seen);
    while (!atomic_compare_exchange_strong(&top, &seen, plate));
}

static void use(int plate)
{
    if (plate != NONE)
        assert(atomic_fetch_add(&users[plate], 1) == 0); /* FAILS HERE */
}

static void *serve(void *unused)
{
    int first = take();
    int second = take();

    (void)unused;
    use(second);
    if (first != NONE)
        put(first);
    return NULL;
}

int main(void)
{
    pthread_t waiter;

    pthread_create(&waiter, NULL, serve, NULL);
    use(take());
    use(take());
    pthread_join(waiter, NULL);
    return 0;
}
