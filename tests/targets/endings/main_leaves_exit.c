/* Main leaves; another thread ends the process. */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

static void *end(void *unused)
{
    (void)unused;
    exit(0);
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, end, NULL);
    pthread_exit(NULL);
}
