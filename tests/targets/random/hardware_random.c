// Two threads and main draw random numbers of every width from the processor, and a constructor does so before.
// Build with -mrdrnd -mrdseed. Prints what was drawn; fails where the processor had nothing to give.

#include <immintrin.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct Numbers {
    unsigned long long wide, seed;
    unsigned middle;
    unsigned short narrow;
};

static struct Numbers drawn[4];

static void *draw(void *slot)
{
    struct Numbers *numbers = slot;
    if (!_rdrand64_step(&numbers->wide) || !_rdseed64_step(&numbers->seed) || !_rdrand32_step(&numbers->middle)
        || !_rdrand16_step(&numbers->narrow))
        exit(2);
    return NULL;
}

__attribute__((constructor)) static void draw_early(void)
{
    draw(&drawn[0]);
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, draw, &drawn[1]);
    pthread_create(&second, NULL, draw, &drawn[2]);
    draw(&drawn[3]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    for (int i = 0; i < 4; i++)
        printf("%016llx %016llx %08x %04x\n", drawn[i].wide, drawn[i].seed, drawn[i].middle, drawn[i].narrow);
    return 0;
}
