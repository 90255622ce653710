/* Two threads ask the kernel for the end of the program's data and move it, so that each of them has a page of its own (-DMORE): without a lock,
 * both may get the same page. With -DLESS, one of them gives a page back for a moment, which the other one reads. With -DTRY, both lock a mutex
 * for it. With -DHEAP, one of them has the C library move that end. */
#define _GNU_SOURCE
#include <assert.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, MANY = 1 << 20 };

static pthread_mutex_t lock __attribute__((unused)) = PTHREAD_MUTEX_INITIALIZER;
static char *volatile got[2];

static char *end_of_data(char *wanted)
{
    return (char *)syscall(SYS_brk, wanted);
}

static void *takes_page(void *place)
{
#ifdef TRY
    pthread_mutex_lock(&lock);
#endif
#ifdef LESS
    if (place == &got[0]) {
        end_of_data(got[0]);
        end_of_data(got[0] + PAGE);
    } else
        assert(*(volatile char *)got[0] == 0);
#else
    char *end = end_of_data(NULL);
    assert(end_of_data(end + PAGE) == end + PAGE);
    *(char *volatile *)place = end;
#endif
#ifdef TRY
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

int main(void)
{
    pthread_t thread;
#ifdef HEAP
    mallopt(M_MMAP_THRESHOLD, 2 * MANY);
#endif
#ifdef LESS
    char *volatile first = malloc(1); /* the last time that the C library moves the end */
    free(first);
    got[0] = end_of_data(NULL);
    assert(end_of_data(got[0] + PAGE) == got[0] + PAGE);
#endif
    pthread_create(&thread, NULL, takes_page, (void *)&got[0]);
#ifdef HEAP
    char *volatile taken = malloc(MANY);
    free(taken);
    pthread_join(thread, NULL);
#else
    takes_page((void *)&got[1]);
    pthread_join(thread, NULL);
    assert(got[0] != got[1]);
#endif
    return 0;
}
