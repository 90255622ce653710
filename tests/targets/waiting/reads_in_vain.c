/* A thread reads a flag 40 times, or until it is set, which another thread does only if it sees that the reading has begun: in
 * the first execution it does not, and the reads look like those of private memory. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int has_begun, is_set;

static void *set(void *unused)
{
    if (has_begun)
        is_set = 1;
    return unused;
}

static void *read_often(void *unused)
{
    has_begun = 1;
    for (int i = 0; i < 40 && !is_set; i++)
        ;
    return unused;
}

int main(void)
{
    pthread_t setter, reader;

    pthread_create(&setter, NULL, set, NULL);
    pthread_create(&reader, NULL, read_often, NULL);
    pthread_join(setter, NULL);
    pthread_join(reader, NULL);
    return 0;
}
