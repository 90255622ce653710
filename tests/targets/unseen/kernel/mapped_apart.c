/* Two threads add to a number in a file that each of them maps, so that the address of a mapping depends on which was made first. With -DTRY, both
 * lock a mutex for it. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, TIMES = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file;

static void *adds(void *unused)
{
    volatile int *number = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert(number != MAP_FAILED);
    for (int i = 0; i < TIMES; i++) {
#ifdef TRY
        pthread_mutex_lock(&lock);
#endif
        *number = *number + 1;
#ifdef TRY
        pthread_mutex_unlock(&lock);
#endif
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    int sum = 0;

    file = memfd_create("number", 0);
    assert(file >= 0 && ftruncate(file, PAGE) == 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, adds, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_lock(&lock);
    pread(file, &sum, sizeof sum, 0);
    assert(sum == 2 * TIMES);
    return 0;
}
