/* A thread has something done at the end, while the process ends: whether it is asked for in time decides whether it is done.
   With LATE, what is done finds that what it needs is not there yet. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *way;
static int prepared;

static void uses(void)
{
    if (!prepared)
        _exit(1);
}

static void uses_with(int code, void *what)
{
    (void)code;
    if (!*(int *)what)
        _exit(1);
}

static void registers(void)
{
    if (!strcmp(way, "on_exit"))
        on_exit(uses_with, &prepared);
    else if (!strcmp(way, "quick_exit"))
        at_quick_exit(uses);
    else
        atexit(uses);
}

static void *works(void *unused)
{
#ifdef LATE
    registers();
    prepared = 1;
#else
    prepared = 1;
    registers();
#endif
    return unused;
}

static void *ends(void *unused)
{
    exit(0);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t worker, other;
    way = argc > 1 ? argv[1] : "atexit";
    pthread_create(&worker, NULL, works, NULL);
    if (!strcmp(way, "thread")) {
        pthread_create(&other, NULL, ends, NULL);
        pthread_join(other, NULL);
    }
    pthread_detach(worker);
    if (!strcmp(way, "quick_exit"))
        quick_exit(0);
    if (!strcmp(way, "bare"))
        _exit(0);
    return 0;
}
