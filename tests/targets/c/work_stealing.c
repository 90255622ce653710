/* A work-stealing deque: the owner (main) pops tasks at the bottom, a thief steals at the top.
 *
 * Wrong: owner and thief can both want the last task. The thief claims it by moving `top`; the owner has to do the same,
 * but takes it without asking.
 * Finding: assertion, in main (a task was run twice).
 * Preemptions: 2. The thief has to look at `top` and `bottom` while the owner has tasks left, and the owner blocks nowhere
 * before its join: one preemption, of the owner. The thief must then stop before its compare-and-swap while the owner takes
 * the task: another one. If the thief runs undivided, the owner sees its result: it reads `top` after moving `bottom`.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { TASKS = 2, EMPTY = -1 };

static int tasks[TASKS];
static atomic_long top;
static atomic_long bottom;
static atomic_int times_run[TASKS];

static void push(int task)
{
    long end = atomic_load(&bottom);
    tasks[end] = task;
    atomic_store(&bottom, end + 1);
}

static int pop(void)
{
    long end = atomic_load(&bottom) - 1;
    atomic_store(&bottom, end);
    long start = atomic_load(&top);
    if (start > end) {
        atomic_store(&bottom, end + 1);
        return EMPTY;
    }
    return tasks[end];
}

static int steal(void)
{
    long start = atomic_load(&top);
    long end = atomic_load(&bottom);
    if (start >= end)
        return EMPTY;
    int task = tasks[start];
    return atomic_compare_exchange_strong(&top, &start, start + 1) ? task : EMPTY;
}

static void *thief(void *unused)
{
    (void)unused;
    int task = steal();
    if (task != EMPTY)
        atomic_fetch_add(&times_run[task], 1);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int task;

    for (task = 0; task < TASKS; task++)
        push(task);
    pthread_create(&thread, NULL, thief, NULL);
    while ((task = pop()) != EMPTY)
        atomic_fetch_add(&times_run[task], 1);
    pthread_join(thread, NULL);
    for (task = 0; task < TASKS; task++)
        assert(atomic_load(&times_run[task]) == 1); /* FAILS HERE */
    return 0;
}
