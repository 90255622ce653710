/* A thread finds its own value by a key that another one deletes. With KEPT nobody deletes it before that. */
#include <assert.h>
#include <pthread.h>

static pthread_key_t key;

static void *uses(void *value)
{
    pthread_setspecific(key, value);
    assert(pthread_getspecific(key) == value);
    return value;
}

int main(void)
{
    pthread_t thread;
    pthread_key_create(&key, NULL);
    pthread_create(&thread, NULL, uses, &key);
#ifndef KEPT
    pthread_key_delete(key);
    pthread_join(thread, NULL);
#else
    pthread_join(thread, NULL);
    pthread_key_delete(key);
#endif
    return 0;
}
