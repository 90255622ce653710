/* The stock of eight warehouses: one thread moves goods from one to another, another one counts them all.
 *
 * Wrong (torn read): the goods are counted under no lock, when they have left one warehouse and not come to the other.
 * Finding: assertion, in `count`.
 * Preemptions: 1. With 0, both stores come before the count or behind it. With 1: stop the transport between its stores,
 * and let the count run: one event where the processor can gather (AVX2), else eight.
 * Optimisation: the stores are volatile, or a compiler may make them one.
 */
#include <assert.h>
#include <immintrin.h>
#include <pthread.h>
#include <stddef.h>

enum { WAREHOUSES = 8, SPACING = 5, GOODS = 80 };

static volatile int stock[WAREHOUSES * SPACING];

static void *transport(void *unused)
{
    (void)unused;
    stock[2 * SPACING] = 9;
    stock[6 * SPACING] = 11;
    return NULL;
}

__attribute__((target("avx2"))) static void gather(int *goods)
{
    __m256i places = _mm256_setr_epi32(0, 5, 10, 15, 20, 25, 30, 35);
    __m256i found = _mm256_i32gather_epi32((const int *)stock, places, sizeof(int));
    _mm256_storeu_si256((__m256i *)goods, found);
}

static void *count(void *unused)
{
    int goods[WAREHOUSES], all = 0;

    (void)unused;
    if (__builtin_cpu_supports("avx2")) {
        gather(goods);
    } else {
        for (int i = 0; i < WAREHOUSES; i++)
            goods[i] = stock[i * SPACING];
    }
    for (int i = 0; i < WAREHOUSES; i++)
        all += goods[i];
    assert(all == GOODS); /* FAILS HERE */
    return NULL;
}

int main(void)
{
    pthread_t mover, counter;

    for (int i = 0; i < WAREHOUSES; i++)
        stock[i * SPACING] = GOODS / WAREHOUSES;
    pthread_create(&mover, NULL, transport, NULL);
    pthread_create(&counter, NULL, count, NULL);
    pthread_join(mover, NULL);
    pthread_join(counter, NULL);
    return 0;
}
