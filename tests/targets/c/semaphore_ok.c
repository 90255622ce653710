/* A shop with one shelf: main restocks it, two customers take from it. A semaphore lets one at a time at the shelf.
 *
 * Right: every path through `buy` gives the semaphore back.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t at_shelf;
static int stock;

static void *buy(void *unused)
{
    (void)unused;
    sem_wait(&at_shelf);
    if (stock > 0)
        stock--;
    sem_post(&at_shelf);
    return NULL;
}

static void restock(int delivery)
{
    sem_wait(&at_shelf);
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
