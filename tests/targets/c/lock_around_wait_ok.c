/* A bakery puts a loaf on a shelf, main takes it from there.
 *
 * Right: main takes the lock of the shelf once there is a loaf.
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
    pthread_mutex_lock(&shelf_lock);
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
    sem_wait(&loaves);
    pthread_mutex_lock(&shelf_lock);
    on_shelf--;
    pthread_mutex_unlock(&shelf_lock);
    pthread_join(bakery, NULL);
    sem_destroy(&loaves);
    return on_shelf;
}
