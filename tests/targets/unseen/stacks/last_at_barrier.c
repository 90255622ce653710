/* A thread takes for granted that it comes last to a barrier, which is told by the result; with LENT, threads write to a variable on
 * the stack of another one, which the program has given it. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

#ifdef LENT
static char stack[1 << 18] __attribute__((aligned(4096)));
static volatile int *volatile lent;
static sem_t is_lent, is_written;

static void *lends(void *unused)
{
    volatile int own[4] = {0};
    lent = own;
    sem_post(&is_lent);
    int before = own[1], after = own[1];
    sem_wait(&is_written);
    assert(before == after);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sem_init(&is_lent, 0, 0);
    sem_init(&is_written, 0, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, sizeof stack);
    pthread_create(&thread, &attributes, lends, NULL);
    sem_wait(&is_lent);
    lent[1] = 5;
    sem_post(&is_written);
    pthread_join(thread, NULL);
    return 0;
}
#else
static pthread_barrier_t barrier;

static void *arrives(void *unused)
{
    assert(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, arrives, NULL);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    return 0;
}
#endif
