/* A stack of three plates without a lock: main takes two, a waiter takes two and puts the first one back.
 *
 * Right: the top has the number of its changes beside the plate, and is never twice the same.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { PLATES = 3, NONE = -1 };

struct top {
    int plate;
    unsigned changes;
};

static _Atomic(struct top) top;
static atomic_int below[PLATES] = {1, 2, NONE};
static atomic_int users[PLATES];

static int take(void)
{
    struct top seen = atomic_load(&top);

    while (seen.plate != NONE) {
        struct top next = {atomic_load(&below[seen.plate]), seen.changes + 1};
        if (atomic_compare_exchange_strong(&top, &seen, next))
            break;
    }
    return seen.plate;
}

static void put(int plate)
{
    struct top seen = atomic_load(&top);
    struct top next;

    do {
        atomic_store(&below[plate], seen.plate);
        next = (struct top){plate, seen.changes + 1};
    } while (!atomic_compare_exchange_strong(&top, &seen, next));
}

static void use(int plate)
{
    if (plate != NONE)
        assert(atomic_fetch_add(&users[plate], 1) == 0);
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
