/* Sixteen bytes are copied by one instruction while another thread writes them by another one. */
#include <assert.h>
#include <emmintrin.h>
#include <pthread.h>

static __m128i place;

static void *writes(void *unused)
{
    *(volatile __m128i *)&place = _mm_set1_epi8(1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    long long halves[2];
    pthread_create(&thread, NULL, writes, NULL);
    __m128i copy = *(volatile __m128i *)&place;
    pthread_join(thread, NULL);
    _mm_storeu_si128((__m128i *)halves, copy);
    assert(halves[0] == halves[1]);
    return 0;
}
