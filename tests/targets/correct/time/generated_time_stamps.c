/* The program makes code that reads the processor's time stamps. What it reads there is the time that its clock shows: made up, and the
 * same in every execution. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* rdtsc; shl rdx, 32; or rax, rdx; ret */
static const unsigned char code[] = {0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0x48, 0x09, 0xd0, 0xc3};

static uint64_t (*stamp)(void);

static void *reads(void *unused)
{
    struct timespec now;
    uint64_t first = stamp();
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t between = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    assert(first < between && between < stamp());
    return unused;
}

int main(void)
{
    pthread_t thread;
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(page != MAP_FAILED);
    memcpy(page, code, sizeof code);
    assert(mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0);
    memcpy(&stamp, &page, sizeof stamp);
    pthread_create(&thread, NULL, reads, NULL);
    reads(NULL);
    pthread_join(thread, NULL);
    return 0;
}
