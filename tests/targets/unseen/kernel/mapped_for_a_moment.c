/* Two threads add to the number that a file holds. Each maps the file for as long as it stores the number; the number before is read by a call,
 * or, with -DLOADS, in a mapping of its own. With -DOWN, each stores numbers in a file of its own first, which main has stored one in before.
 * With -DTRY, both lock a mutex for it. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, ROUNDS = 5 };

#ifdef OWN
enum { TIMES = 2 };
#else
enum { TIMES = 1 };
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file;

static int new_file(const char *name)
{
    int made = memfd_create(name, 0);
    assert(made >= 0 && ftruncate(made, PAGE) == 0);
    return made;
}

static volatile int *map(int file, int protection)
{
    volatile int *number = mmap(NULL, PAGE, protection, MAP_SHARED, file, 0);
    assert(number != MAP_FAILED);
    return number;
}

static int load(int file)
{
    int number = 0;
#ifdef LOADS
    volatile int *memory = map(file, PROT_READ);
    number = *memory;
    munmap((void *)memory, PAGE);
#else
    pread(file, &number, sizeof number, 0);
#endif
    return number;
}

static void store(int file, int number)
{
    volatile int *memory = map(file, PROT_READ | PROT_WRITE);
    *memory = number;
    munmap((void *)memory, PAGE);
}

static void *adds(void *own)
{
    for (int i = 0; i < TIMES; i++) {
#ifdef OWN
        for (int round = 0; round < ROUNDS; round++)
            store(*(int *)own, round);
#endif
#ifdef TRY
        pthread_mutex_lock(&lock);
#endif
        store(file, load(file) + 1);
#ifdef TRY
        pthread_mutex_unlock(&lock);
#endif
    }
    return own;
}

int main(void)
{
    pthread_t thread;
    int own[] = { new_file("first"), new_file("second") };
    file = new_file("number");
#ifdef OWN
    store(own[0], -1);
    store(own[1], -1);
#endif
    pthread_create(&thread, NULL, adds, &own[0]);
    adds(&own[1]);
    pthread_join(thread, NULL);
    pthread_mutex_lock(&lock);
    assert(load(file) == 2 * TIMES);
    return 0;
}
