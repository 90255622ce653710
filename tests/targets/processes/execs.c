/* Ends by becoming another program, after its threads have done their work. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static atomic_int checked;

static void *check(void *unused)
{
    (void)unused;
    atomic_fetch_add(&checked, 1);
    return NULL;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, check, NULL);
    atomic_fetch_add(&checked, 1);
    pthread_join(thread, NULL);
    execl("/bin/sh", "sh", "-c", "exit 0", (char *)NULL);
    return 9;
}
