/* Statistics of a server: each worker counts requests on its own, and adds one to the common total at its end.
 *
 * Right: the total is counted with the lock held; main reads it after both workers have been joined.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

enum { REQUESTS = 40 };

static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static int own[2];
static int total;

__attribute__((noinline)) static void bump(int *counter)
{
    *counter += 1;
}

static void *serve(void *counter)
{
    for (int i = 0; i < REQUESTS; i++) {
        bump(counter);
    }
    pthread_mutex_lock(&total_lock);
    bump(&total);
    pthread_mutex_unlock(&total_lock);
    return NULL;
}

int main(void)
{
    pthread_t first, second;

    pthread_create(&first, NULL, serve, &own[0]);
    pthread_create(&second, NULL, serve, &own[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(total == 2);
    return 0;
}
