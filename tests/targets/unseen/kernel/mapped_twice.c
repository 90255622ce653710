/* Two threads add to a counter that each of them has at an address of its own. With -DCALLS, one of them reads and writes the file instead,
 * and with -DAGAIN the second mapping is made of the first. With -DTRY, both lock a mutex in that memory for it, which says that
 * it is reached in several ways. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

struct memory {
    pthread_mutex_t lock;
    volatile int counter;
};

static struct memory *views[2];
static int file;

static void *adds(void *view)
{
    struct memory *memory = view;
#ifdef TRY
    pthread_mutex_lock(&memory->lock);
#endif
#ifdef CALLS
    if (view == views[0]) {
        int number;
        off_t at = (char *)&memory->counter - (char *)memory;
        pread(file, &number, sizeof number, at);
        number++;
        pwrite(file, &number, sizeof number, at);
    } else
#endif
        ++memory->counter;
#ifdef TRY
    pthread_mutex_unlock(&memory->lock);
#endif
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_mutexattr_t attributes;
    file = memfd_create("counter", 0);
    assert(file >= 0 && ftruncate(file, PAGE) == 0);
    views[0] = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
#ifdef AGAIN
    views[1] = mremap(views[0], 0, PAGE, MREMAP_MAYMOVE);
#else
    views[1] = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
#endif
    assert(views[0] != MAP_FAILED && views[1] != MAP_FAILED);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&views[0]->lock, &attributes);
    pthread_create(&thread, NULL, adds, views[0]);
    adds(views[1]);
    pthread_join(thread, NULL);
    assert(views[0]->counter == 2);
    return 0;
}
