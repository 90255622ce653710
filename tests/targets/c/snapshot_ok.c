/* The state of a controller: one thread counts a step in it, another one takes a snapshot of the whole.
 *
 * Right: both hold the mutex, so the copy is of one moment. (The state is too large for a compiler to copy it without a
 * call.)
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
static pthread_mutex_t state_mutex = PTHREAD_MUTEX_INITIALIZER;

static void *control(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&state_mutex);
    current.step = 1;
    current.checksum = 1;
    pthread_mutex_unlock(&state_mutex);
    return NULL;
}

static void *observe(void *unused)
{
    struct state snapshot;

    (void)unused;
    pthread_mutex_lock(&state_mutex);
    memcpy(&snapshot, &current, sizeof snapshot);
    pthread_mutex_unlock(&state_mutex);
    assert(snapshot.step == snapshot.checksum);
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
