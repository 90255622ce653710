/* The listing in section 2 of the paper on periodical scheduling: whoever comes first sets a flag, under a lock that the last
 * one frees. There are schedules in which the lock is used after it was freed, freed twice, and used when its address was
 * cleared. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int is_done;
static atomic_int users;
static pthread_mutex_t *lock;

static void *do_once(void *unused)
{
    if (!is_done) {
        atomic_fetch_add(&users, 1);
        pthread_mutex_lock(lock);
        if (!is_done)
            is_done = 1;
        pthread_mutex_unlock(lock);
        if (atomic_fetch_sub(&users, 1) == 1) {
            free(lock);
            lock = NULL;
        }
    }
    return unused;
}

int main(void)
{
    pthread_t first, second;

    lock = malloc(sizeof *lock);
    pthread_mutex_init(lock, NULL);
    pthread_create(&first, NULL, do_once, NULL);
    pthread_create(&second, NULL, do_once, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
