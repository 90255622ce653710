/* The guests of a hotel: one thread lets a guest in, another one looks whether the list and the number agree.
 *
 * Wrong (atomicity violation of two variables): the list and the number are each changed under the mutex, but not both at once,
 * so who looks in between finds a guest more in the list than the number says.
 * Finding: assertion, in `look`.
 * Preemptions: 1. With 0, `arrive` runs to its end before `look` has the mutex, or begins after it: nobody who holds the mutex is
 * stopped. With 1: stop `arrive` between its two critical sections, and let `look` run.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct guest {
    struct guest *next;
};

static pthread_mutex_t desk = PTHREAD_MUTEX_INITIALIZER;
static struct guest *guests;
static int number;

static void *arrive(void *argument)
{
    struct guest *guest = argument;

    pthread_mutex_lock(&desk);
    guest->next = guests;
    guests = guest;
    pthread_mutex_unlock(&desk);
    pthread_mutex_lock(&desk);
    number++;
    pthread_mutex_unlock(&desk);
    return NULL;
}

static void *look(void *unused)
{
    int listed = 0;

    (void)unused;
    pthread_mutex_lock(&desk);
    for (struct guest *guest = guests; guest; guest = guest->next)
        listed++;
    assert(listed == number); /* FAILS HERE */
    pthread_mutex_unlock(&desk);
    return NULL;
}

int main(void)
{
    pthread_t porter, manager;
    static struct guest guest;

    pthread_create(&porter, NULL, arrive, &guest);
    pthread_create(&manager, NULL, look, NULL);
    pthread_join(porter, NULL);
    pthread_join(manager, NULL);
    return 0;
}
