/* A shop with one shelf: main restocks it, two customers take from it. A semaphore lets one at a time at the shelf.
 *
 * Wrong (semaphore misuse): a customer who finds the shelf empty leaves without giving the semaphore back.
 * Finding: deadlock, main at the shelf for ever.
 * Preemptions: 1. With 0, main restocks before any customer runs, and when a customer finds the shelf empty again, nobody
 * needs it any more. With 1: stop main before it takes the semaphore, and let a customer come first.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t at_shelf;
static int stock;

static void *buy(void *unused)
{
    (void)unused;
    sem_wait(&at_shelf); /* FAILS HERE */
    if (stock == 0)
        return NULL;
    stock--;
    sem_post(&at_shelf);
    return NULL;
}

static void restock(int delivery)
{
    sem_wait(&at_shelf); /* FAILS HERE */
    stock += delivery;
    sem_post(&at_shelf);
}

int main(void)
{
    pthread_t customers[2];

    sem_init(&at_shelf, 0, 1);
    for (int i = 0; i < 2; i++)
        pthread_create(&customers[i], NULL, buy, NULL);
    restock(2);
    for (int i = 0; i < 2; i++)
        pthread_join(customers[i], NULL);
    sem_destroy(&at_shelf);
    return 0;
}
