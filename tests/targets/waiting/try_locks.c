/* Two threads hold a mutex each, and try for that of the other one for ever. */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;

static void *right_first(void *unused)
{
    pthread_mutex_lock(&right);
    while (pthread_mutex_trylock(&left) != 0)
        ;
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
    return unused;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, right_first, NULL);
    pthread_mutex_lock(&left);
    while (pthread_mutex_trylock(&right) != 0)
        ;
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    pthread_join(thread, NULL);
    return 0;
}
