/* Two threads ask for a date by functions that leave it in memory of the C library: by -DTIME in a structure, by -DDATE as text. With -DTRY, each
 * reads it under the lock that it took for the call. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#ifdef TRY
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define ENTER pthread_mutex_lock(&lock)
#define LEAVE pthread_mutex_unlock(&lock)
#else
#define ENTER (void)0
#define LEAVE (void)0
#endif

static const time_t times[] = {0, 12 * 60 * 60};

static int hour(int which)
{
#ifdef DATE
    const char *date = which ? ctime(&times[which]) : asctime(&(struct tm){.tm_mday = 1, .tm_year = 70});
    return (date[11] - '0') * 10 + date[12] - '0';
#else
    return (which ? localtime : gmtime)(&times[which])->tm_hour;
#endif
}

static void *asks(void *which)
{
    ENTER;
    int found = hour(which != NULL);
    LEAVE;
    assert(found == (which ? 12 : 0));
    return NULL;
}

int main(void)
{
    pthread_t thread;

    setenv("TZ", "UTC", 1);
    pthread_create(&thread, NULL, asks, (void *)&times);
    asks(NULL);
    pthread_join(thread, NULL);
    return 0;
}
