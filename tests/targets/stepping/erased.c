/* A pointer without a type to a variable of which the optimiser leaves no more than its value. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int counter;

static void *add(void *unused)
{
    counter++;
    return unused;
}

int main(void)
{
    int object = 7;
    void *erased = &object;
    int *known = &object;
    pthread_t first, second;
    pthread_create(&first, NULL, add, NULL);
    pthread_create(&second, NULL, add, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(counter == 2 && erased && known); /* FAILS HERE */
    return 0;
}
