/* Two threads add to the number that a file holds. Each maps the file for as long as it stores the number; the number before is read by a call,
 * or, with -DLOADS, in a mapping of its own. With -DTRY, both lock a mutex for it. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file;

static volatile int *map(int protection)
{
    volatile int *number = mmap(NULL, PAGE, protection, MAP_SHARED, file, 0);
    assert(number != MAP_FAILED);
    return number;
}

static int load(void)
{
    int number = 0;
#ifdef LOADS
    volatile int *memory = map(PROT_READ);
    number = *memory;
    munmap((void *)memory, PAGE);
#else
    pread(file, &number, sizeof number, 0);
#endif
    return number;
}

static void store(int number)
{
    volatile int *memory = map(PROT_READ | PROT_WRITE);
    *memory = number;
    munmap((void *)memory, PAGE);
}

static void *adds(void *unused)
{
#ifdef TRY
    pthread_mutex_lock(&lock);
#endif
    store(load() + 1);
#ifdef TRY
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

int main(void)
{
    pthread_t thread;
    file = memfd_create("number", 0);
    assert(file >= 0 && ftruncate(file, PAGE) == 0);
    pthread_create(&thread, NULL, adds, NULL);
    adds(NULL);
    pthread_join(thread, NULL);
    pthread_mutex_lock(&lock);
    assert(load() == 2);
    return 0;
}
