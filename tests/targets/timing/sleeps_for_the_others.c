/* Main gives the others 80 ms, and takes it that they are through by then. They are, unless something keeps one of them from
 * running for as long. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int done;

static void *work(void *unused)
{
    atomic_fetch_add(&done, 1);
    return unused;
}

int main(void)
{
    pthread_t workers[2];

    pthread_create(&workers[0], NULL, work, NULL);
    pthread_create(&workers[1], NULL, work, NULL);
    usleep(80000);
    assert(atomic_load(&done) == 2); /* FAILS HERE */
    pthread_join(workers[0], NULL);
    pthread_join(workers[1], NULL);
    return 0;
}
