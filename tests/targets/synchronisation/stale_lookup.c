/* A reader looks up a place on a shelf in one critical section, and looks there in the next one; another thread clears the
 * shelf in between. The lock is a mutex, -DRWLOCK a read-write lock, and -DSEMAPHORE a semaphore; with -DTRY each critical
 * section is entered by the function that does not wait, and skipped where the lock is not free. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

#if defined RWLOCK
static pthread_rwlock_t shelf_lock = PTHREAD_RWLOCK_INITIALIZER;
#define WAIT pthread_rwlock_wrlock
#define TRY_ONCE pthread_rwlock_trywrlock
#define LEAVE pthread_rwlock_unlock
#elif defined SEMAPHORE
static sem_t shelf_lock;
#define WAIT sem_wait
#define TRY_ONCE sem_trywait
#define LEAVE sem_post
#else
static pthread_mutex_t shelf_lock = PTHREAD_MUTEX_INITIALIZER;
#define WAIT pthread_mutex_lock
#define TRY_ONCE pthread_mutex_trylock
#define LEAVE pthread_mutex_unlock
#endif

#ifdef TRY
#define ENTER TRY_ONCE
#else
#define ENTER WAIT
#endif

static int last_place = 1, places = 2;

static void *clear(void *unused)
{
    if (ENTER(&shelf_lock) == 0) {
        last_place = 0;
        places = 1;
        LEAVE(&shelf_lock);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    int place = 0;

#ifdef SEMAPHORE
    sem_init(&shelf_lock, 0, 1);
#endif
    pthread_create(&thread, NULL, clear, NULL);
    if (ENTER(&shelf_lock) == 0) {
        place = last_place;
        LEAVE(&shelf_lock);
    }
    if (ENTER(&shelf_lock) == 0) {
        assert(place < places);
        LEAVE(&shelf_lock);
    }
    pthread_join(thread, NULL);
    return 0;
}
