/* A buffer is read into by the kernel for one thread, and looked at by another one. */
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static char buffer[8];
static int ends[2];

static void *reads(void *unused)
{
    assert(read(ends[0], buffer, 1) == 1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    assert(pipe(ends) == 0 && write(ends[1], "x", 1) == 1);
    pthread_create(&thread, NULL, reads, NULL);
    char seen = *(volatile char *)buffer;
    pthread_join(thread, NULL);
    assert(seen == 0);
    return 0;
}
