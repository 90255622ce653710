/* Main looks after 5 ms for what comes after 10 ms. It is always too early, unless something keeps it from looking. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int is_there;

static void *come(void *unused)
{
    usleep(10000);
    atomic_store(&is_there, 1);
    return unused;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, come, NULL);
    usleep(5000);
    assert(atomic_load(&is_there)); /* FAILS HERE */
    pthread_join(thread, NULL);
    return 0;
}
