/* A pool of one thread. With LIBRARY, the library that has it, with a condition variable of its own; else, the program that
 * hands it work. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

void pool_run(void (*work)(void));

#ifdef LIBRARY
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static void (*wanted)(void);
static int ended;

static void *serve(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!wanted)
        pthread_cond_wait(&changed, &lock);
    wanted();
    ended = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

void pool_run(void (*work)(void))
{
    pthread_t thread;

    pthread_create(&thread, NULL, serve, NULL);
    pthread_mutex_lock(&lock);
    wanted = work;
    pthread_cond_signal(&changed);
    while (!ended)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
}
#else
static int calls;

static void work(void)
{
    calls++;
}

int main(void)
{
    pool_run(work);
    assert(calls == 1);
    return 0;
}
#endif
