/* Which number a file gets depends on what another thread has open. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static void *open_and_close(void *unused)
{
    close(open("/dev/null", O_RDONLY));
    return unused;
}

int main(void)
{
    pthread_t thread;
    int lowest = open("/dev/null", O_RDONLY);

    close(lowest);
    pthread_create(&thread, NULL, open_and_close, NULL);
    int file = open("/dev/null", O_RDONLY);
    pthread_join(thread, NULL);
    assert(file == lowest);
    return 0;
}
