/* An alarm guards a test against hanging. It comes in no execution: all threads are through long before, or with -DINVERTED wait
 * for each other for ever, and that is what fails. With -DSLOW the test sleeps for longer than the guard allows. */
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void add(pthread_mutex_t *outer, pthread_mutex_t *inner)
{
    pthread_mutex_lock(outer);
    pthread_mutex_lock(inner);
    count++;
    pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
}

static void *adds(void *unused)
{
#ifdef INVERTED
    add(&second, &first);
#else
    add(&first, &second);
#endif
    return unused;
}

int main(void)
{
    pthread_t thread;

    alarm(30);
    pthread_create(&thread, NULL, adds, NULL);
    add(&first, &second);
#ifdef SLOW
    sleep(60);
#endif
    pthread_join(thread, NULL);
    return count == 2 ? 0 : 1;
}
