/* Two bytes go into a pipe one by one, and whoever reads takes for granted that both are there. The descriptor that is
 * written to is another one than that which is read. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int ends[2];

static void *feed(void *unused)
{
    if (write(ends[1], "a", 1) != 1 || write(ends[1], "b", 1) != 1)
        exit(2);
    return unused;
}

static void *take(void *unused)
{
    char both[4];

    if (read(ends[0], both, sizeof both) != 2)
        abort(); /* FAILS HERE */
    return unused;
}

int main(void)
{
    pthread_t feeding, taking;

    if (pipe(ends) != 0)
        return 2;
    pthread_create(&feeding, NULL, feed, NULL);
    pthread_create(&taking, NULL, take, NULL);
    pthread_join(feeding, NULL);
    pthread_join(taking, NULL);
    return 0;
}
