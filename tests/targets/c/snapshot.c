/* The state of a controller: one thread counts a step in it, another one takes a snapshot of the whole.
 *
 * Wrong (torn read): the state is copied under no lock, so the copy can hold the step of one moment and the checksum of
 * another.
 * Finding: assertion, in `observe`.
 * Preemptions: 1. The copy is one event (a call of `memcpy`), and so is each of the two stores. With 0, both
 * stores come before the copy or behind it. With 1: stop the controller between its stores, and let the observer run.
 * Optimisation: the stores are volatile, or a compiler may make them one. The state is too large for a compiler to copy
 * it without a call.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

struct state {
    volatile long step;
    char log[16384];
    volatile long checksum;
};

static struct state current;

static void *control(void *unused)
{
    (void)unused;
    current.step = 1;
    current.checksum = 1;
    return NULL;
}

static void *observe(void *unused)
{
    struct state snapshot;

    (void)unused;
    memcpy(&snapshot, &current, sizeof snapshot);
    assert(snapshot.step == snapshot.checksum); /* FAILS HERE */
    return NULL;
}

int main(void)
{
    pthread_t controller, observer;

    pthread_create(&controller, NULL, control, NULL);
    pthread_create(&observer, NULL, observe, NULL);
    pthread_join(controller, NULL);
    pthread_join(observer, NULL);
    return 0;
}
