/* A work-stealing deque: the owner (main) pops tasks at the bottom, a thief steals at the top.
 *
 * Right: for the last task both must move `top` by compare-and-swap, and one of them wins. Any other task the owner has
 * for itself: a thief that still sees it has looked at `top` before, and steals a lower one or fails.
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
    if (start == end) {
        int won = atomic_compare_exchange_strong(&top, &start, start + 1);
        atomic_store(&bottom, end + 1);
        return won ? tasks[end] : EMPTY;
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
        assert(atomic_load(&times_run[task]) == 1);
    return 0;
}
