/* A thread that computes for long, but comes to a key point now and then: a limit of the time to the next key point is no
 * limit of the time of an execution. */
#include <pthread.h>
#include <stddef.h>

enum { PARTS = 300, STEPS = 300000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void compute(void)
{
    for (volatile int step = 0; step < STEPS; step++)
        ;
}

static void *work(void *unused)
{
    for (int part = 0; part < PARTS; part++) {
        compute();
        pthread_mutex_lock(&mutex);
        done++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return done != PARTS;
}
