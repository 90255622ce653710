/* Main cancels a thread, which then, or already, does one of several things (-DACT=...). */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#define WAIT 1
#define SLEEP 2
#define READ 3
#define ASK 4
#define LOCK 5
#define REFUSE 6
#define CALCULATE 7

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
#if ACT == WAIT || ACT == LOCK || ACT == REFUSE
static int cleaned;
#endif

#if ACT == WAIT
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void clean(void *unused)
{
    (void)unused;
    cleaned = 1;
    pthread_mutex_unlock(&mutex);
}

static void act(void)
{
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(clean, NULL);
    for (;;)
        pthread_cond_wait(&never, &mutex);
    pthread_cleanup_pop(1);
}
#elif ACT == SLEEP
static void act(void)
{
    for (;;)
        sleep(1);
}
#elif ACT == READ
static int ends[2];

static void act(void)
{
    char byte;
    assert(pipe(ends) == 0);
    while (read(ends[0], &byte, 1) == 1)
        ;
}
#elif ACT == ASK
static atomic_int rounds;

static void act(void)
{
    for (;;) {
        atomic_fetch_add(&rounds, 1);
        pthread_testcancel();
    }
}
#elif ACT == LOCK
static void act(void)
{
    pthread_mutex_lock(&mutex);
    cleaned++;
    pthread_mutex_unlock(&mutex);
    pthread_testcancel();
}
#elif ACT == REFUSE
static sem_t later;

static void act(void)
{
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    sem_wait(&later);
    cleaned = 1;
    pthread_setcancelstate(old, NULL);
    for (;;)
        sem_wait(&later);
}
#elif ACT == CALCULATE
static void act(void)
{
    volatile unsigned number = 0;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;)
        number++;
}
#endif

static void *start(void *unused)
{
    act();
    return unused;
}

int main(void)
{
    pthread_t thread;
    void *result = NULL;

    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, start, NULL);
    pthread_cancel(thread);
    pthread_mutex_unlock(&mutex);
#if ACT == REFUSE
    sem_post(&later);
#endif
    pthread_join(thread, &result);
    assert(result == PTHREAD_CANCELED);
#if ACT == WAIT
    assert(!cleaned || pthread_mutex_trylock(&mutex) == 0);
#elif ACT == LOCK || ACT == REFUSE
    assert(cleaned == 1);
#endif
    return 0;
}
