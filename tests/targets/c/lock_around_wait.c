/* A bakery puts a loaf on a shelf, main takes it from there.
 *
 * Wrong (circular wait): main takes the lock of the shelf, and waits for a loaf with it; the bakery cannot get to the shelf.
 * Finding: deadlock, main at the semaphore and the bakery at the lock.
 * Preemptions: 0. Main runs first, and comes to the semaphore before the bakery has the lock.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static pthread_mutex_t shelf_lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t loaves;
static int on_shelf;

static void *bake(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&shelf_lock); /* FAILS HERE */
    on_shelf++;
    sem_post(&loaves);
    pthread_mutex_unlock(&shelf_lock);
    return NULL;
}

int main(void)
{
    pthread_t bakery;

    sem_init(&loaves, 0, 0);
    pthread_create(&bakery, NULL, bake, NULL);
    pthread_mutex_lock(&shelf_lock);
    sem_wait(&loaves); /* FAILS HERE */
    on_shelf--;
    pthread_mutex_unlock(&shelf_lock);
    pthread_join(bakery, NULL);
    sem_destroy(&loaves);
    return on_shelf;
}
