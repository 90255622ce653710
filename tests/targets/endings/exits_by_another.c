/* Two threads end the process, one of them with an error: it depends on who comes first. */
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static int started;

static void *fail(void *unused)
{
    (void)unused;
    started = 1;
    _exit(1);
}

static void *succeed(void *unused)
{
    if (started == 0)
        _exit(0);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, fail, NULL);
    pthread_create(&second, NULL, succeed, NULL);
    pthread_join(second, NULL);
    return 0;
}
