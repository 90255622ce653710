// Each of two threads stores to a variable of its own and then loads the other one's: at least one of them sees the other's store, since
// an indivisible instruction on memory of their own empties the store buffer in between. With -DEXCHANGE it is an exchange with a local
// variable; with -DNO_FENCE there is none, and on x86 both may see nothing.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#if defined(NO_FENCE)
#define FENCE(own) (void)(own)
#elif defined(EXCHANGE)
#define FENCE(own) __asm__ volatile("xchgl %%eax, %0" : "+m"(own) : : "eax", "memory")
#else
#define FENCE(own) __asm__ volatile("lock addl $0, (%%rsp)" : "+m"(own) : : "cc", "memory")
#endif

static atomic_int x, y;
static int seen[2];

static void *first(void *unused)
{
    int own = 0;
    atomic_store_explicit(&x, 1, memory_order_release);
    FENCE(own);
    seen[0] = atomic_load_explicit(&y, memory_order_acquire);
    return unused;
}

static void *second(void *unused)
{
    int own = 0;
    atomic_store_explicit(&y, 1, memory_order_release);
    FENCE(own);
    seen[1] = atomic_load_explicit(&x, memory_order_acquire);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert(seen[0] || seen[1]);
    return 0;
}
