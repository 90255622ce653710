/* Main takes three short sleeps for time enough, and no lock: the writer may still not have come to its write. No preemption
 * shows it, and whoever takes a second sleep for a promise that somebody else has moved does not see it. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

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
    usleep(1000);
    usleep(1000);
    usleep(1000);
    assert(atomic_load(&is_written)); /* FAILS HERE */
    pthread_join(writer, NULL);
    return 0;
}
