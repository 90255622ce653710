/* The guests of a hotel: one thread lets a guest in, another one looks whether the list and the number agree.
 *
 * Right: both are changed while the mutex is held.
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
    assert(listed == number);
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
