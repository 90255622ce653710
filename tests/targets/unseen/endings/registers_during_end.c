/* While the process ends, and does what it was asked to do then, a thread asks for more. It is done first if that comes before the end
   has begun, second if it comes while the lock is taken, and not at all if it comes later. One of these is a mistake. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_closed;
static int is_flushed;

static void judges(void)
{
#if defined FIRST
    int is_bad = is_flushed == 1;
#elif defined SECOND
    int is_bad = is_flushed == 2;
#elif defined NEVER
    int is_bad = !is_flushed;
#else
    int is_bad = 0;
#endif
    if (is_bad)
        _exit(1);
}

static void closes(void)
{
    pthread_mutex_lock(&lock);
    is_closed = 1;
    pthread_mutex_unlock(&lock);
}

static void flushes(void)
{
    is_flushed = is_closed ? 2 : 1;
}

static void *works(void *unused)
{
    atexit(flushes);
    return unused;
}

int main(void)
{
    pthread_t worker;
    atexit(judges);
    atexit(closes);
    pthread_create(&worker, NULL, works, NULL);
    pthread_detach(worker);
    return 0;
}
