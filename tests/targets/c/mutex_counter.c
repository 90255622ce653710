/* A shared counter behind a mutex: the two-thread example of the speed benchmark.
 *
 * Right: every access is made with the lock held, but for the last one, which the join orders.
 * Size: two threads (main and one worker), 26 key points: create, join, and 2 x 3 x (lock, read, write, unlock).
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

enum { ROUNDS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void count(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
}

static void *worker(void *unused)
{
    (void)unused;
    count();
    return NULL;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, worker, NULL);
    count();
    pthread_join(thread, NULL);
    assert(counter == 2 * ROUNDS);
    return 0;
}
