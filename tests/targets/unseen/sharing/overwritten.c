/* A thread writes over the memory of a lock that others hold, or compares that of a condition variable for which they wait. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static const pthread_cond_t fresh = PTHREAD_COND_INITIALIZER;
static volatile int inside, ready;

static void *enters(void *compares)
{
    pthread_mutex_lock(&mutex);
    if (compares) {
        while (!ready)
            pthread_cond_wait(&condition, &mutex);
    } else {
        inside++;
        assert(inside == 1);
        inside--;
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *meddles(void *compares)
{
    if (compares) {
        assert(memcmp(&condition, &fresh, sizeof fresh) == 0);
        pthread_mutex_lock(&mutex);
        ready = 1;
        pthread_cond_broadcast(&condition);
        pthread_mutex_unlock(&mutex);
    } else {
        mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    }
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t threads[3];
    void *compares = count > 1 && !strcmp(arguments[1], "compared") ? arguments : NULL;

    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, i < 2 ? enters : meddles, compares);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
