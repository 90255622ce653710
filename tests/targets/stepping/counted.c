/* Appends one byte to the file that it is given each time that it runs, and then takes many key points to its failure: main
 * looks for the result of a thread that need not have run yet.
 */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int finished;

static void *finish(void *unused)
{
    finished = 1;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int counter = 0;
    int file = argc > 1 ? open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    (void)!write(file, ".", 1);
    close(file);

    pthread_create(&thread, NULL, finish, NULL);
    for (int i = 0; i < 200; i++) { /* loop */
        pthread_mutex_lock(&lock); /* lock */
        counter++; /* count */
        pthread_mutex_unlock(&lock); /* unlock */
    }
    assert(finished && counter); /* FAILS HERE */
    pthread_join(thread, NULL);
    return 0;
}
