/* A worker tries to take a mutex, and counts its tries, while main has it. Its loop is never twice the same, and ends only once
 * main goes on. */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t resource = PTHREAD_MUTEX_INITIALIZER;

static void *take(void *tries)
{
    while (pthread_mutex_trylock(&resource) != 0)
        ++*(unsigned long *)tries;
    pthread_mutex_unlock(&resource);
    return tries;
}

int main(void)
{
    unsigned long tries = 0;
    pthread_t worker;

    pthread_mutex_lock(&resource);
    pthread_create(&worker, NULL, take, &tries);
    pthread_mutex_unlock(&resource);
    pthread_join(worker, NULL);
    return tries == 123456;
}
