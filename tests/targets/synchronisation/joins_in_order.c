/* One thread looks at what another one sets after it has held a lock, and main joins the one that looks first. While nothing is
 * known to be shared, that thread is at its end before the lock is taken; once it is known, the lock is taken before main joins
 * it. There are two classes: it sees what was set, or does not. */
#include <pthread.h>

static pthread_mutex_t shelf = PTHREAD_MUTEX_INITIALIZER;
static volatile int delivered, seen;

static void *look(void *unused)
{
    seen = delivered;
    return unused;
}

static void *deliver(void *unused)
{
    pthread_mutex_lock(&shelf);
    pthread_mutex_unlock(&shelf);
    delivered = 1;
    return unused;
}

int main(void)
{
    pthread_t looking, delivering;

    pthread_create(&looking, NULL, look, NULL);
    pthread_create(&delivering, NULL, deliver, NULL);
    pthread_join(looking, NULL);
    pthread_join(delivering, NULL);
    return 0;
}
