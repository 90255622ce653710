/* Main loads a library, and two threads count by it; -DLOCKED: under a lock that the library has. Built with -DPLUG_IN it is the library,
 * whose path is the program's argument; with -DSTARTS it starts a thread of its own when it is loaded. Before that main keeps a file open
 * (-DOPENS), or writes a line (-DSPEAKS): each execution has to do that for itself. */
#include <assert.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef PLUG_IN
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int visitors;

void visit(int *seen)
{
#ifdef LOCKED
    pthread_mutex_lock(&lock);
#endif
    visitors++;
    *seen = visitors;
#ifdef LOCKED
    pthread_mutex_unlock(&lock);
#endif
    (void)lock;
}

#ifdef STARTS
static void *visits(void *unused)
{
    int seen;
    visit(&seen);
    return unused;
}

__attribute__((constructor)) static void starts(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, visits, NULL);
    pthread_join(thread, NULL);
}
#endif

#else
static void (*visit)(int *);

static void *visits(void *seen)
{
    visit(seen);
    return NULL;
}

int main(int argc, char **argv)
{
    int *seen = calloc(3, sizeof *seen);
    assert(argc == 2 && seen);
#ifdef OPENS
    int file = open("/proc/self/cmdline", O_RDONLY);
    char first;
    assert(file >= 0 && read(file, &first, 1) == 1);
#endif
#ifdef SPEAKS
    assert(write(STDOUT_FILENO, "loading\n", 8) == 8);
#endif
    void *library = dlopen(argv[1], RTLD_NOW);
    assert(library);
    visit = (void (*)(int *))dlsym(library, "visit");
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, visits, &seen[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    visit(&seen[2]);
    int visitors = seen[2];
    free(seen);
    assert(visitors >= 3);
    return 0;
}
#endif
