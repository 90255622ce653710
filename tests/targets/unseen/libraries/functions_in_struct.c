/* Memory is written by a function of the C library whose address stands in a structure beside that of another one, and which is called last by
   the function that has the structure. Optimised, both addresses go through one vector register, and the call is a jump. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

struct transfers {
    void *(*copy)(void *, const void *, size_t);
    void *(*move)(void *, const void *, size_t);
};

static volatile char place = '1';

__attribute__((noinline)) static void *store(const struct transfers *transfers, const char *text)
{
    return transfers->copy((void *)&place, text, 1);
}

static void *changes(void *unused)
{
    struct transfers transfers = {memcpy, memmove};
    __asm__ volatile("" : : "r"(&transfers) : "memory");
    store(&transfers, "2");
    store(&transfers, "1");
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, changes, NULL);
    assert(place == '1');
    pthread_join(thread, NULL);
    return 0;
}
