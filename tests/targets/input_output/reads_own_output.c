/* A thread waits for what another one writes to the standard output, which is a pipe of the program's own, or with -DCOUNTER a counter: it
 * finds that the other one has not said yet what it writes that for. With -DTRY that is said before.
 */
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int from;
static int begun, said;

static void say(void)
{
    __atomic_store_n(&said, 1, __ATOMIC_SEQ_CST);
}

static void begin(void)
{
    __atomic_fetch_add(&begun, 1, __ATOMIC_SEQ_CST);
}

static void *waits(void *unused)
{
    struct pollfd readable = { .fd = from, .events = POLLIN };
    begin();
    poll(&readable, 1, -1);
    assert(__atomic_load_n(&said, __ATOMIC_SEQ_CST));
    return unused;
}

int main(void)
{
    pthread_t thread;
    uint64_t one = 1;
#ifdef COUNTER
    from = eventfd(0, 0);
    dup2(from, STDOUT_FILENO);
#else
    int ends[2];
    if (pipe(ends) != 0)
        return 1;
    from = ends[0];
    dup2(ends[1], STDOUT_FILENO);
#endif
    pthread_create(&thread, NULL, waits, NULL);
    begin();
    begin();
#ifdef TRY
    say();
#endif
    if (write(STDOUT_FILENO, &one, sizeof one) != sizeof one)
        return 1;
    say();
    pthread_join(thread, NULL);
    return 0;
}
