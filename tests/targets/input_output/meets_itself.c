/* Takes a lock on a file that nobody else may have: two runs at the same time meet there. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/file.h>

static atomic_int done;

static void *work(void *unused)
{
    for (int i = 0; i < 4; i++)
        atomic_fetch_add(&done, 1);
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    int file = open("meets_itself.lock", O_CREAT | O_RDWR, 0600);

    assert(file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(atomic_load(&done) == 12);
    return 0;
}
