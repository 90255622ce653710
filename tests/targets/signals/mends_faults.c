/* Threads write to memory that has no permissions until a handler, under a lock, gives it some. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int *memory;
static int faults;

static void mend(int unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    mprotect((void *)memory, 4096, PROT_READ | PROT_WRITE);
    faults++;
    pthread_mutex_unlock(&lock);
}

static void *use(void *slot)
{
    memory[(size_t)slot] = 1;
    memory[(size_t)slot]++;
    return NULL;
}

int main(void)
{
    struct sigaction action = { .sa_handler = mend };
    pthread_t first, second;

    sigaction(SIGSEGV, &action, NULL);
    memory = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_create(&first, NULL, use, (void *)0);
    pthread_create(&second, NULL, use, (void *)1);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(faults == 1 || faults == 2);
    assert(memory[0] == 2 && memory[1] == 2);
    return 0;
}
