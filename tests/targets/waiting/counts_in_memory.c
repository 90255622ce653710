/* As counts_rounds.c, with the rounds counted in a static variable: each of them changes memory. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int done;
static volatile unsigned long rounds;

static void *work(void *unused)
{
    atomic_store(&done, 1);
    return unused;
}

int main(void)
{
    pthread_t worker;

    pthread_create(&worker, NULL, work, NULL);
    while (!atomic_load(&done))
        rounds++;
    pthread_join(worker, NULL);
    return rounds == 123456;
}
