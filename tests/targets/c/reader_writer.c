/* The range of a sensor: one thread sets it, another one measures against it.
 *
 * Wrong (reader/writer mistake): the thread that sets the range takes the lock for reading, so the other one can look
 * while only one end of the range is new.
 * Finding: assertion (abort), in `measure`.
 * Preemptions: 1. With 0, both ends are set back to back. With 1: stop the writer between the two, and let the reader run.
 * Optimisation: both ends are volatile, or a compiler may set them with one store.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

static pthread_rwlock_t range_lock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int lowest = 0;
static volatile int highest = 10;

static void *recalibrate(void *unused)
{
    (void)unused;
    pthread_rwlock_rdlock(&range_lock);
    lowest = 20;
    highest = 30;
    pthread_rwlock_unlock(&range_lock);
    return NULL;
}

static void *measure(void *unused)
{
    (void)unused;
    pthread_rwlock_rdlock(&range_lock);
    int width = -lowest;
    width += highest;
    pthread_rwlock_unlock(&range_lock);
    if (width < 0)
        abort(); /* FAILS HERE */
    return NULL;
}

int main(void)
{
    pthread_t writer, reader;

    pthread_create(&writer, NULL, recalibrate, NULL);
    pthread_create(&reader, NULL, measure, NULL);
    pthread_join(writer, NULL);
    pthread_join(reader, NULL);
    return 0;
}
