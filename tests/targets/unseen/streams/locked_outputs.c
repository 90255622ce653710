/* Each thread has the lock of a standard stream, and writes to the other one: by a stream's name, or by a function of that stream alone.
 * With ORDERED both take the locks in the same order. */
#include <pthread.h>
#include <stdio.h>

static void *complains(void *unused)
{
    flockfile(stdout);
    fputs("out of paper\n", stderr);
    funlockfile(stdout);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, complains, NULL);
#ifdef ORDERED
    flockfile(stdout);
    flockfile(stderr);
#else
    flockfile(stderr);
#endif
    puts("page 1");
    funlockfile(stderr);
#ifdef ORDERED
    funlockfile(stdout);
#endif
    pthread_join(thread, NULL);
    return 0;
}
