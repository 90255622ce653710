/* Each of two threads counts for 20,000 rounds on its own, and then once on what both share, by the same instructions. The two counters
 * and the total lie side by side. With `LOCKED` there is a lock around the total. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

enum { ROUNDS = 20000 };

#ifdef LOCKED
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
#endif
static int own[2];
static int total;

__attribute__((noinline)) static void bump(int *counter)
{
    *counter += 1;
}

static void *count(void *counter)
{
    for (int i = 0; i < ROUNDS; i++) {
        bump(counter);
    }
#ifdef LOCKED
    pthread_mutex_lock(&mutex);
#endif
    bump(&total);
#ifdef LOCKED
    pthread_mutex_unlock(&mutex);
#endif
    return NULL;
}

int main(void)
{
    pthread_t first, second;

    pthread_create(&first, NULL, count, &own[0]);
    pthread_create(&second, NULL, count, &own[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(total == 2); /* FAILS HERE */
    return 0;
}
