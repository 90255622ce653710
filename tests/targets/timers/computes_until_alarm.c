/* The only thread counts until an alarm. With -DJUMPS it goes round in a loop that an alarm leaves by a jump. */
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t rang;
static volatile long count;
static sigjmp_buf after;

static void ring(int number)
{
    (void)number;
    rang = 1;
#ifdef JUMPS
    siglongjmp(after, 1);
#endif
}

int main(void)
{
    signal(SIGALRM, ring);
    if (sigsetjmp(after, 1) != 0)
        return 0;
    alarm(1);
#ifdef JUMPS
    for (;;)
        ;
#endif
    while (!rang)
        count++;
    return 0;
}
