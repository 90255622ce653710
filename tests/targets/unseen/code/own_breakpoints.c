/* Code that the program makes has a breakpoint of its own, which a handler counts. Built with -DLOCKED, under a lock. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static const unsigned char instructions[] = {
    0xcc, /* int3 */
    0xc3, /* ret */
};

static void (*stops)(void);
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long counter;

static void count(int signal)
{
    (void)signal;
    counter++;
}

static void *runs(void *nothing)
{
#ifdef LOCKED
    pthread_mutex_lock(&mutex);
#endif
    stops();
#ifdef LOCKED
    pthread_mutex_unlock(&mutex);
#endif
    return nothing;
}

int main(void)
{
    pthread_t thread;
    void *room = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(room != MAP_FAILED);
    memcpy(room, instructions, sizeof instructions);
    stops = (void (*)(void))room;
    signal(SIGTRAP, count);
    pthread_create(&thread, NULL, runs, NULL);
    runs(NULL);
    pthread_join(thread, NULL);
    pthread_mutex_lock(&mutex);
    assert(counter == 2);
    pthread_mutex_unlock(&mutex);
    return 0;
}
