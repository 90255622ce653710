/* A worker hands the address of a variable of its own to a thread, and looks at the variable twice. It does not wait for the thread, which may
 * write to the variable in between, and most often does so when the worker has ended. With WAITS it does. The variable is on the worker's stack,
 * with THREAD_LOCAL in its thread-local memory; with RETURNS it is one of a function that has returned, in whose place the next one
 * has variables that no other function knows.
 */
#include <pthread.h>
#include <stdlib.h>

static void *writes(void *number)
{
    *(volatile int *)number = 10;
    return NULL;
}

static void end(pthread_t thread)
{
#ifdef WAITS
    pthread_join(thread, NULL);
#else
    pthread_detach(thread);
#endif
}

#ifdef RETURNS
static pthread_t writer;

static void __attribute__((noinline)) lend(void)
{
    volatile int numbers[4] = {0};
    pthread_create(&writer, NULL, writes, (void *)&numbers[2]);
# ifdef WAITS
    end(writer);
# endif
}

static void __attribute__((noinline)) look(int by)
{
    /* As large as that of the other function, and without its address anywhere. */
    volatile int a = by, b = by, c = by, d = by, e = by, f = by, g = by, h = by, i = by, j = by, k = by, l = by;
    if (a + b + c + d + e + f + g + h + i + j + k + l != 12 * by)
        abort();
}

static void *works(void *unused)
{
    lend();
    look(1);
# ifndef WAITS
    end(writer);
# endif
    return unused;
}
#else
# ifdef THREAD_LOCAL
static _Thread_local volatile int number;
# endif

static void *works(void *unused)
{
# ifndef THREAD_LOCAL
    volatile int number = 0;
# endif
    pthread_t thread;
    pthread_create(&thread, NULL, writes, (void *)&number);
# ifdef WAITS
    end(thread);
# endif
    int first = number, second = number;
    if (first != second)
        abort();
# ifndef WAITS
    end(thread);
# endif
    return unused;
}
#endif

int main(void)
{
    pthread_t worker;
    pthread_create(&worker, NULL, works, NULL);
    pthread_join(worker, NULL);
    pthread_exit(NULL);
}
