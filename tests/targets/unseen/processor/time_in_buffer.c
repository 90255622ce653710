/* Each thread stores something and looks at what the other one has stored: one of them the time, which it gets without the kernel, so
 * that it may be in the buffer still. */
#include <assert.h>
#include <pthread.h>
#include <time.h>

static volatile time_t now;
static volatile int flag;
static int seen;

static void *asks(void *unused)
{
    time((time_t *)&now);
    seen = flag;
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, asks, NULL);
    __atomic_exchange_n(&flag, 1, __ATOMIC_SEQ_CST);
    time_t before = now;
    pthread_join(thread, NULL);
    assert(seen || before != 0);
    return 0;
}
