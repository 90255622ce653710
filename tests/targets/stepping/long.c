/* An execution of about 6 * ROUNDS key points, at whose end main looks for the result of a thread that need not have run
 * yet: it fails in the very first schedule.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#ifndef ROUNDS
#define ROUNDS 160
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter, finished;

static void count(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
}

static void *worker(void *unused)
{
    count();
    return unused;
}

static void *finish(void *unused)
{
    finished = 1;
    return unused;
}

int main(void)
{
    pthread_t first, second;

    pthread_create(&first, NULL, worker, NULL);
    pthread_join(first, NULL);
    pthread_create(&second, NULL, finish, NULL);
    count();
    assert(finished); /* FAILS HERE */
    pthread_join(second, NULL);
    return 0;
}
