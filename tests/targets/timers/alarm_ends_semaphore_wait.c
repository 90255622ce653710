/* An alarm ends a wait for a semaphore. -DPOST: its handler posts the semaphore, which the wait does not take where it has ended.
 * -DRESTART: the handler is installed with SA_RESTART, and the wait goes on. */
#include <assert.h>
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static sem_t semaphore;

static void ring(int unused)
{
    (void)unused;
#ifdef POST
    sem_post(&semaphore);
#endif
}

int main(void)
{
    struct sigaction action = { .sa_handler = ring };
    int value;

#ifdef RESTART
    action.sa_flags = SA_RESTART;
#endif
    sem_init(&semaphore, 0, 0);
    sigaction(SIGALRM, &action, NULL);
    alarm(1);
#ifdef RESTART
    assert(sem_wait(&semaphore) == 0);
#else
    assert(sem_wait(&semaphore) == -1 && errno == EINTR);
#endif
    sem_getvalue(&semaphore, &value);
#if defined POST && !defined RESTART
    assert(value == 1);
#else
    assert(value == 0);
#endif
    return 0;
}
