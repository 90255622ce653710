/* The handler of a timer's signal reads two numbers that are always the same, except in the midst of a change; with -DBLOCKED it does
 * not come there. There is no other thread. */
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/time.h>

static volatile int low, high;
static volatile sig_atomic_t torn;

static void look(int number)
{
    (void)number;
    if (low != high)
        torn = 1;
}

int main(void)
{
    struct itimerval soon = { .it_value = { .tv_usec = 60 } };
    sigset_t alarms;

    signal(SIGALRM, look);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    setitimer(ITIMER_REAL, &soon, NULL);
#ifdef BLOCKED
    sigprocmask(SIG_BLOCK, &alarms, NULL);
#endif
    low = 1;
    high = 1;
#ifdef BLOCKED
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
#endif
    if (torn)
        abort();
    return 0;
}
