// Two loops of OpenMP, the second of which reads what the first has written in other threads: the barrier between them, deep
// inside the runtime library, orders the two. With -DNO_BARRIER there is none, and each cell is a data race.

#include <stdlib.h>

#ifdef NO_BARRIER
#define SPLIT _Pragma("omp for nowait")
#else
#define SPLIT _Pragma("omp for")
#endif

static int first[2], second[2];

int main(void)
{
#pragma omp parallel num_threads(2)
    {
        SPLIT
        for (int i = 0; i < 2; i++)
            first[i] = i + 1;
#pragma omp for
        for (int i = 0; i < 2; i++)
            second[i] = first[1 - i];
    }
    return second[0] > 2;
}
