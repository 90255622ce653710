/* A value is stored past the cache, and a flag says that it is there: the processor may carry out the second store first. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Alignas(64) atomic_int value;
static _Alignas(64) atomic_int is_there;

static void *gives(void *unused)
{
    __asm__ volatile("movnti %1, %0" : "=m"(value) : "r"(1));
    atomic_store_explicit(&is_there, 1, memory_order_release);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, gives, NULL);
    if (atomic_load_explicit(&is_there, memory_order_acquire))
        assert(atomic_load_explicit(&value, memory_order_relaxed) == 1);
    pthread_join(thread, NULL);
    return 0;
}
