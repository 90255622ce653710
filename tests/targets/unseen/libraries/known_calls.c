/* Correct: what is looked up needs no watching, one thread alone asks for something to be done at the end and takes keys, and a
 * pointer to a function of the C library is there that nothing is called through. */
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

void *(*unused_pointer)(void *, const void *, size_t) = memcpy;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char text[32] = "before";

static void nothing(void)
{
}

static void *changes(void *unused)
{
    pthread_mutex_lock(&mutex);
    memcpy(text, "behind", strlen("behind") + 1);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_key_t key;
    assert(dlsym(RTLD_DEFAULT, "gettid") != NULL);
    pthread_create(&thread, NULL, changes, NULL);
    atexit(nothing);
    pthread_key_create(&key, NULL);
    pthread_mutex_lock(&mutex);
    assert(strlen(text) == strlen("before"));
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    return 0;
}
