// A thread uses an object that the other one may have destroyed by then.

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#if defined SEMAPHORE
static sem_t object;
#define make() sem_init(&object, 0, 1)
#define use() sem_post(&object)
#define destroy() sem_destroy(&object)
#elif defined CONDITION
static pthread_cond_t object = PTHREAD_COND_INITIALIZER;
#define make() (void)0
#define use() pthread_cond_signal(&object)
#define destroy() pthread_cond_destroy(&object)
#elif defined HEAP
static pthread_mutex_t *object;
#define make() (object = malloc(sizeof *object), pthread_mutex_init(object, NULL))
#define use() (pthread_mutex_lock(object), pthread_mutex_unlock(object))
#define destroy() pthread_mutex_destroy(object)
#else
static pthread_mutex_t object = PTHREAD_MUTEX_INITIALIZER;
#define make() (void)0
#define use() (pthread_mutex_lock(&object), pthread_mutex_unlock(&object))
#define destroy() pthread_mutex_destroy(&object)
#endif

static void *user(void *argument)
{
    use();
    return argument;
}

int main(void)
{
    pthread_t thread;
    make();
    pthread_create(&thread, NULL, user, NULL);
#ifdef JOINED
    pthread_join(thread, NULL);
    destroy();
#else
    destroy();
    pthread_join(thread, NULL);
#endif
    return 0;
}
