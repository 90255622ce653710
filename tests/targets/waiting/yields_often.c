/* As in sleeps_first.c, but main yields 20 times: a search that lets threads take turns lets the writer go first. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int is_written;

static void *write_it(void *unused)
{
    atomic_store(&is_written, 1);
    return unused;
}

int main(void)
{
    pthread_t writer;

    pthread_create(&writer, NULL, write_it, NULL);
    for (int yields = 0; yields < 20; yields++)
        sched_yield();
    assert(atomic_load(&is_written)); /* FAILS HERE */
    pthread_join(writer, NULL);
    return 0;
}
