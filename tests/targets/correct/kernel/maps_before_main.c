/* A constructor maps memory that children would share; each run of the program has its own. */
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

static int *runs;

__attribute__((constructor)) static void map(void)
{
    runs = mmap(NULL, sizeof *runs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void *count_run(void *unused)
{
    ++*runs;
    return unused;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, count_run, NULL);
    pthread_join(thread, NULL);
    return *runs != 1;
}
