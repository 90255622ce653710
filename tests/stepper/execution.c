/* One execution: which thread runs, and up to where. */
#include "stepper.h"

#include <sys/ptrace.h>
#include <unistd.h>

struct point record[MOST_STEPS];
int steps;

static unsigned runnable_threads(void)
{
    unsigned all = 0;

    for (int thread = 0; thread < MOST_THREADS; thread++)
        all |= (unsigned)is_runnable(thread) << thread;
    return all;
}

static unsigned living_threads(void)
{
    unsigned all = 0;

    for (int thread = 0; thread < MOST_THREADS; thread++)
        all |= (unsigned)(threads[thread].exists && !threads[thread].is_over) << thread;
    return all;
}

/* The first of these threads from `from` on, upwards or downwards in a circle; -1 without any. */
static int first_of(unsigned all, int from, enum order order)
{
    for (int more = 0; more < MOST_THREADS; more++) {
        int thread = (MOST_THREADS + from + (order == UPWARDS ? more : -more)) % MOST_THREADS;

        if (all >> thread & 1)
            return thread;
    }
    return -1;
}

/* The thread that goes on where `thread` waits or has ended; -1 where none can. */
static int next_thread(int thread, enum order order, uint64_t *chance)
{
    int from = order == UPWARDS ? thread + 1 : thread - 1;

    return first_of(runnable_threads(), *chance ? (int)(draw(chance) % MOST_THREADS) : from, order);
}

/* Steps a thread once. A system call is one step. */
static enum stop step(int thread)
{
    enum stop stop;

    if (!is_call(thread))
        return resume(thread, PTRACE_SINGLESTEP);
    while ((stop = resume(thread, PTRACE_SYSCALL)) != AFTER_CALL)
        if (stop == OVER || stop == ENDED || threads[thread].is_waiting)
            break;
    return stop;
}

void run_recorded(char **program, char *how, char *words)
{
    int thread = 0;
    uint64_t no_chance = 0;
    /* Threads that are in the middle of a call: the first one in that which has created the second one. */
    bool is_in_call[MOST_THREADS] = { true };
    bool is_running = start(program);

    steps = 0;
    while (is_running && thread >= 0) {
        enum stop stop;

        if (is_in_call[thread]) {
            while ((stop = resume(thread, PTRACE_SYSCALL)) != AFTER_CALL && stop != ENDED)
                ;
            is_in_call[thread] = false;
        } else {
            uintptr_t address = at(thread);
            struct point *last = steps ? &record[steps - 1] : NULL;

            /* An instruction that repeats itself is one. */
            if (!last || last->thread != thread || last->address != address) {
                if (steps == MOST_STEPS)
                    refuse("there are more than %d steps", MOST_STEPS);
                record[steps] = (struct point){ thread, address, 0, steps, runnable_threads(), living_threads() };
                steps++;
            }
            stop = step(thread);
        }
        if (stop == ENDED)
            break;
        is_in_call[thread] = threads[thread].is_waiting;
        if (!is_runnable(thread))
            thread = next_thread(thread, UPWARDS, &no_chance);
    }
    finish(thread < 0, how, words);
}

/* The number of times that a thread comes to a point after another one of its own, or from its beginning on. */
static int times_from(const struct point *from, const struct point *to)
{
    int times = to->occurrence;

    for (int place = 0; from && place <= from->place; place++)
        times -= record[place].thread == to->thread && record[place].address == to->address;
    return times;
}

/* The first preemption of a thread in a plan from `from` on. */
static int preemption_of(const struct plan *plan, int thread, int from)
{
    while (from < plan->count && plan->preemptions[from].point.thread != thread)
        from++;
    return from;
}

/* Where each thread stands in a plan: its next preemption, and how often it has to come there. */
struct progress {
    int next, times;
};

/* Sets the breakpoint of a thread to its preemption from `from` on. */
static void aim(const struct plan *plan, int thread, int from, struct progress *progress)
{
    const struct point *before = from ? &plan->preemptions[from - 1].point : NULL;

    progress->next = preemption_of(plan, thread, from);
    if (progress->next < plan->count) {
        const struct point *point = &plan->preemptions[progress->next].point;

        progress->times = times_from(before, point);
        break_at(thread, point->address);
    } else if (before) {
        break_at(thread, 0);
    }
}

void run_planned(char **program, const struct plan *plan, char *how, char *words)
{
    struct progress progress[MOST_THREADS];
    unsigned aimed = 0;
    uint64_t chance = plan->chance;
    bool is_running = start(program);
    int thread = plan->order == CREATED_FIRST ? created : 0;

    while (is_running && thread >= 0) {
        enum stop stop;

        if (!(aimed >> thread & 1)) {
            aim(plan, thread, 0, &progress[thread]);
            aimed |= 1u << thread;
        }
        stop = resume(thread, PTRACE_SYSCALL);
        if (stop == ENDED)
            break;
        if (stop == AT_BREAKPOINT && !--progress[thread].times) {
            int preemption = progress[thread].next;
            unsigned others = runnable_threads() & ~(1u << thread);
            int to = first_of(others, plan->preemptions[preemption].to, UPWARDS);

            aim(plan, thread, preemption + 1, &progress[thread]);
            if (to >= 0)
                thread = to;
        } else if (stop == CREATED && plan->order == CREATED_FIRST) {
            thread = created;
        } else if (!is_runnable(thread)) {
            thread = next_thread(thread, plan->order, &chance);
        }
    }
    finish(thread < 0, how, words);
}
