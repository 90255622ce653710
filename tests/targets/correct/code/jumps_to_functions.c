/* What the C library calls back ends with a jump to a function of threads, which returns to the library: a thread's function, a
 * handler of cancellation, and a destructor of thread-specific data. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static int number;

static void unlocks(void *unused)
{
    (void)unused;
    pthread_mutex_unlock(&mutex);
}

static void *adds(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    pthread_setspecific(key, &mutex);
    number = number + 1;
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    pthread_key_create(&key, unlocks);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, adds, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_lock(&mutex);
    assert(number == 2);
    pthread_mutex_unlock(&mutex);
    return 0;
}
