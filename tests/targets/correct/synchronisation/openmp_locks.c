// Threads of OpenMP count in turn: in a critical section, or under a lock, one that nests (on the stack of the thread that made
// it), or by the order of the rounds. With -DMISSED the second thread counts without that, which is a data race.

#include <omp.h>

#ifdef MISSED
#define MISSES (omp_get_thread_num() == 1)
#else
#define MISSES 0
#endif

static int count;

int main(void)
{
#if defined(CRITICAL)
#pragma omp parallel num_threads(2)
    {
        if (MISSES)
            count++;
        else
#pragma omp critical
            count++;
    }
#elif defined(LOCK)
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    {
        if (!MISSES)
            omp_set_lock(&lock);
        count++;
        if (!MISSES)
            omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
#elif defined(NEST)
    omp_nest_lock_t lock;
    omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(2)
    {
        if (!MISSES) {
            omp_set_nest_lock(&lock);
            omp_set_nest_lock(&lock);
        }
        count++;
        if (!MISSES) {
            omp_unset_nest_lock(&lock);
            omp_unset_nest_lock(&lock);
        }
    }
    omp_destroy_nest_lock(&lock);
#else
#pragma omp parallel for num_threads(2) ordered schedule(static, 1)
    for (int i = 0; i < 2; i++) {
        if (MISSES)
            count++;
        else
#pragma omp ordered
            count++;
    }
#endif
    return count > 2;
}
