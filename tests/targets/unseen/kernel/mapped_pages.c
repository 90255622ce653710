/* Calls on memory fail where it is not mapped: the second thread takes a page away, on which the first one makes the call that the
 * argument names. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static char *page;

static void *takes_away(void *unused)
{
    munmap(page, PAGE);
    return unused;
}

static int succeeds(const char *call)
{
    if (!strcmp(call, "msync"))
        return msync(page, PAGE, MS_ASYNC) == 0;
    if (!strcmp(call, "mlock"))
        return mlock(page, PAGE) == 0;
    if (!strcmp(call, "mlock2"))
        return mlock2(page, PAGE, MLOCK_ONFAULT) == 0;
    if (!strcmp(call, "munlock"))
        return munlock(page, PAGE) == 0;
    if (!strcmp(call, "madvise"))
        return madvise(page, PAGE, MADV_WILLNEED) == 0;
    if (!strcmp(call, "mincore")) {
        unsigned char is_present;
        return mincore(page, PAGE, &is_present) == 0;
    }
    return mprotect(page, PAGE, PROT_READ) == 0;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    assert(argc == 2);
    page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_create(&thread, NULL, takes_away, NULL);
    assert(succeeds(argv[1]));
    pthread_join(thread, NULL);
    return 0;
}
