// A call that names another thread fails where that has ended: the argument says which one, and when it comes.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static sem_t named, done;
static pid_t number;
static const char *when;

static int is(const char *word) { return strstr(when, word) != NULL; }

// Of its own accord a thread names itself.
static void *work(void *unused)
{
    (void)unused;
    if (is("itself"))
        assert(pthread_setname_np(pthread_self(), "itself") == 0);
    if (is("first"))
        sem_wait(&named);
    number = gettid();
    sem_post(&done);
    return NULL;
}

static int name(pthread_t thread)
{
    struct sched_param priority = {0};
    char text[16];
    clockid_t clock;
    cpu_set_t processors;
    if (is("setname"))
        return pthread_setname_np(thread, "worker");
    if (is("getname"))
        return pthread_getname_np(thread, text, sizeof text);
    if (is("clock"))
        return pthread_getcpuclockid(thread, &clock);
    if (is("affinity"))
        return sched_getaffinity(number, sizeof processors, &processors);
    return pthread_setschedparam(thread, SCHED_OTHER, &priority);
}

int main(int count, char **arguments)
{
    pthread_t thread;
    assert(count == 2);
    when = arguments[1];
    sem_init(&named, 0, 0);
    sem_init(&done, 0, 0);
    pthread_create(&thread, NULL, work, NULL);
    if (is("last"))
        sem_wait(&done);
    if (!is("itself"))
        assert(name(thread) == 0);
    sem_post(&named);
    pthread_join(thread, NULL);
}
