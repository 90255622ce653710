// Two threads each announce themselves and then look for the other: on x86 both can look before either store has left its
// processor's buffer. Under sequential consistency one of them always sees the other.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int here[2];
static int alone[2];

static void *enter(void *argument)
{
    int me = *(int *)argument;
    atomic_store_explicit(&here[me], 1, memory_order_release);
    alone[me] = atomic_load_explicit(&here[1 - me], memory_order_acquire) == 0;
    return NULL;
}

int main(void)
{
    int numbers[2] = { 0, 1 };
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, enter, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(!(alone[0] && alone[1]));
    return 0;
}
