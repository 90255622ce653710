/* A thread loads a library, and starts a thread in it, while main maps memory: the order decides where the library is. Main and another
 * thread take a lock before that, in either order. Built with -DPLUG_IN it is the library, which fails, and whose path is the program's
 * argument.
 */
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *uses(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
#ifdef PLUG_IN
    abort();
#endif
    return unused;
}

#ifndef PLUG_IN
static const char *path;

static void *loads(void *unused)
{
    static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;
    pthread_mutex_lock(&own);
    void *library = dlopen(path, RTLD_NOW);
    assert(library);
    pthread_create(&thread, NULL, (void *(*)(void *))dlsym(library, "uses"), NULL);
    pthread_join(thread, NULL);
    pthread_mutex_unlock(&own);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    assert(argc == 2);
    path = argv[1];
    pthread_create(&threads[0], NULL, loads, NULL);
    pthread_create(&threads[1], NULL, uses, NULL);
    uses(NULL);
    void *pages = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(pages != MAP_FAILED);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
#endif
