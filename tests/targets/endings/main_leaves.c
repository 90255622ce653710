/* Main leaves the others alone with a lost update, which a third thread finds. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int count;
static pthread_t first, second;

static void *add(void *unused)
{
    int seen = count;
    count = seen + 1;
    return unused;
}

static void *check(void *unused)
{
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(count == 2);
    return unused;
}

int main(void)
{
    pthread_t third;
    pthread_create(&first, NULL, add, NULL);
    pthread_create(&second, NULL, add, NULL);
    pthread_create(&third, NULL, check, NULL);
    pthread_exit(NULL);
}
