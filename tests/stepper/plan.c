/* Points of the record, and plans of them. */
#include "stepper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Those in the program's own code come first. */
static struct point points[MOST_STEPS];
static int count, own;

/* The threads of the first execution: bits. */
static unsigned all_threads;

/* The next plan with one preemption: its point, and its thread. */
static int next_point, next_thread;

/* The ending by the plan before, of those in which the first of two threads is preempted and the second one goes on. */
static int before[MOST_THREADS][MOST_THREADS];

/* Preemptions with which such endings change. */
static struct preemption meetings[MOST_STEPS];
static int met;

static uint64_t chance = 88172645463325252u;

uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static bool is_own(const struct point *point)
{
    return point->address >= image_start && point->address < image_end;
}

/* By thread, address and place. */
static int compare_addresses(const void *left, const void *right)
{
    const struct point *one = left, *other = right;

    if (one->thread != other->thread)
        return one->thread - other->thread;
    if (one->address != other->address)
        return one->address < other->address ? -1 : 1;
    return one->place - other->place;
}

/* The program's own first, and then by place. */
static int compare_places(const void *left, const void *right)
{
    const struct point *one = left, *other = right;

    if (is_own(one) != is_own(other))
        return is_own(one) ? -1 : 1;
    return one->place - other->place;
}

void find_points(void)
{
    static struct point sorted[MOST_STEPS];

    memcpy(sorted, record, steps * sizeof *sorted);
    qsort(sorted, steps, sizeof *sorted, compare_addresses);

    for (int place = 0; place < steps; place++)
        all_threads |= record[place].living;
    for (int from = 0, to; from < steps; from = to) {
        for (to = from; to < steps; to++) {
            if (sorted[to].thread != sorted[from].thread || sorted[to].address != sorted[from].address)
                break;
            sorted[to].occurrence = to - from + 1;
        }
        for (int place = from; place < to; place++) {
            const struct point *point = &sorted[place];
            bool is_alone = !(point->living & ~(1u << point->thread));

            if (!is_alone && (place < from + 2 || place == to - 1)) {
                points[count++] = *point;
                own += is_own(point);
            }
        }
    }
    qsort(points, count, sizeof *points, compare_places);
    memset(before, -1, sizeof before);
}

int own_points(void)
{
    return own;
}

int all_points(void)
{
    return count;
}

/* The order in which a thread that is preempted at a point finds another one that can go on; ORDERS without any. */
static enum order order_for(const struct point *point, int to)
{
    if (to == point->thread || !(all_threads >> to & 1))
        return ORDERS;
    if (to > point->thread)
        return point->runnable >> to & 1 ? UPWARDS : ORDERS;
    return to ? DOWNWARDS : CREATED_FIRST;
}

bool next_plan(struct plan *plan)
{
    for (; next_point < own; next_point++, next_thread = 0) {
        const struct point *point = &points[next_point];

        while (next_thread < MOST_THREADS) {
            int to = next_thread++;
            enum order order = order_for(point, to);

            if (order != ORDERS) {
                *plan = (struct plan){ .order = order, .count = 1, .preemptions = { { *point, to } } };
                return true;
            }
        }
    }
    return false;
}

void learn(const struct plan *plan, int ending)
{
    const struct preemption *preemption = &plan->preemptions[0];
    int *last = &before[preemption->point.thread][preemption->to];

    if (ending != *last)
        meetings[met++] = *preemption;
    *last = ending;
}

static struct preemption draw_preemption(bool is_anywhere)
{
    struct preemption drawn;

    if (met && draw(&chance) % 8)
        return meetings[draw(&chance) % (uint64_t)met];
    drawn.point = points[draw(&chance) % (uint64_t)(is_anywhere ? count : own)];
    drawn.to = (int)(draw(&chance) % MOST_THREADS);
    return drawn;
}

bool draw_plan(struct plan *plan, bool is_anywhere)
{
    int wanted = 2 + (int)(draw(&chance) % (MOST_PREEMPTIONS - 1));

    if (!own)
        return false;
    *plan = (struct plan){ .order = draw(&chance) % ORDERS };
    for (int one = 0; one < wanted; one++) {
        struct preemption drawn = draw_preemption(is_anywhere);
        int place = plan->count;

        while (place > 0 && plan->preemptions[place - 1].point.place > drawn.point.place)
            place--;
        if (place > 0 && plan->preemptions[place - 1].point.place == drawn.point.place)
            continue;
        memmove(&plan->preemptions[place + 1], &plan->preemptions[place], (plan->count++ - place) * sizeof drawn);
        plan->preemptions[place] = drawn;
    }
    plan->chance = draw(&chance) % 4 ? 0 : draw(&chance);
    return true;
}

void print_plan(const struct plan *plan)
{
    for (int one = 0; one < plan->count; one++) {
        const struct point *point = &plan->preemptions[one].point;
        uintptr_t start = is_own(point) ? image_start : 0;

        printf("; thread %d at %s%#lx (%d) to %d", point->thread, start ? "+" : "",
               (unsigned long)(point->address - start), point->occurrence, plan->preemptions[one].to);
    }
    printf("%s", plan->order == UPWARDS ? "" : plan->order == DOWNWARDS ? "; downwards" : "; created first");
    if (plan->chance)
        printf("; chance %lu", (unsigned long)plan->chance);
}
