/* Two threads store the two halves of 16 bytes by an instruction that names all of them and stores those that a mask says. With BOTH the
 * second thread reads what the first one stores.
 */
#include <emmintrin.h>
#include <pthread.h>
#include <stdlib.h>

static _Alignas(16) volatile char bytes[16];

static void store(int from, int to)
{
    char mask[16] = {0};

    for (int i = from; i < to; i++)
        mask[i] = -1;
    _mm_maskmoveu_si128(_mm_set1_epi8(1), _mm_loadu_si128((void *)mask), (char *)bytes);
    _mm_sfence();
}

static void *first(void *unused)
{
    store(0, 8);
    return unused;
}

static void *second(void *unused)
{
#ifdef BOTH
    char before = bytes[3], after = bytes[3];
    if (before != after)
        abort();
#endif
    store(8, 16);
    return unused;
}

int main(void)
{
    pthread_t threads[2];

    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 16; i++)
        if (bytes[i] != 1)
            abort();
    return 0;
}
