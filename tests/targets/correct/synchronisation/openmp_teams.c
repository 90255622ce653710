// What the runtime library of OpenMP does between its calls: a barrier, the one thread of a `single` and the value that it hands to
// the others, rounds that threads fetch (with the barrier at the end of the loop), and tasks that any thread of the team may run.
// With -DMISSED, one thread does not wait for that.

#include <assert.h>
#include <omp.h>

static int given, got, all[3];

int main(void)
{
#if defined(BARRIER)
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0)
            given = 1;
#ifndef MISSED
#pragma omp barrier
#endif
        if (omp_get_thread_num() == 1)
            got = given;
    }
    assert(got == 1);
#elif defined(SINGLE)
    int local;
#pragma omp parallel num_threads(2) private(local)
    {
#pragma omp single copyprivate(local)
        local = 21;
#ifndef MISSED
#pragma omp atomic
#endif
        got += local;
    }
    assert(got == 42);
#elif defined(ROUNDS)
#pragma omp parallel num_threads(2)
    {
#ifdef MISSED
#pragma omp for schedule(dynamic) nowait
#else
#pragma omp for schedule(dynamic)
#endif
        for (int i = 0; i < 3; i++)
            all[i] = 1;
        int sum = all[0] + all[1] + all[2];
#pragma omp atomic
        got += sum;
    }
    assert(got == 6);
#else
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
        given = 1;
#ifndef MISSED
#pragma omp taskwait
#endif
        assert(given == 1);
    }
#endif
    return 0;
}
