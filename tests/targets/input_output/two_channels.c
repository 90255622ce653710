/* A thread hears of a value by one end of a pair of sockets, and of the next one by an eventfd. It fails if the next one is
 * there already when it hears of the first. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static int pair[2], event, copy;
static volatile int value;

static void *tell(void *unused)
{
    uint64_t one = 1;

    value = 1;
    if (send(pair[0], "x", 1, 0) != 1)
        exit(2);
    value = 2;
    if (write(copy, &one, sizeof one) != sizeof one)
        exit(2);
    return unused;
}

static void *hear(void *unused)
{
    char byte;
    uint64_t count;

    if (recv(pair[1], &byte, 1, 0) != 1)
        exit(2);
    if (value == 2)
        abort(); /* FAILS HERE */
    if (read(event, &count, sizeof count) != sizeof count)
        exit(2);
    if (value != 2)
        exit(2);
    return unused;
}

int main(void)
{
    pthread_t hearing, telling;

    event = eventfd(0, 0);
    copy = dup(event);
    if (event < 0 || copy < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return 2;
    pthread_create(&hearing, NULL, hear, NULL);
    pthread_create(&telling, NULL, tell, NULL);
    pthread_join(hearing, NULL);
    pthread_join(telling, NULL);
    return 0;
}
