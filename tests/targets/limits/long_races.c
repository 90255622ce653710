/* Threads race in many places, and take a lock so often in between that no search of them ends in the time of a test. */
#include <pthread.h>
#include <stddef.h>

#define ROUNDS 20
#define RACES 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counts[RACES];
static long guarded;

static void spend(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&lock);
        guarded++;
        pthread_mutex_unlock(&lock);
    }
}

#define RACE(at) counts[at]++, spend();

static void *race(void *unused)
{
    RACE(0) RACE(1) RACE(2) RACE(3) RACE(4) RACE(5) RACE(6) RACE(7)
    RACE(8) RACE(9) RACE(10) RACE(11) RACE(12) RACE(13) RACE(14) RACE(15)
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int nth = 0; nth < 2; nth++)
        pthread_create(&threads[nth], NULL, race, NULL);
    for (int nth = 0; nth < 2; nth++)
        pthread_join(threads[nth], NULL);
    return 0;
}
