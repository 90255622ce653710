/* Command line of the stepper:
 *
 *     stepper own|anywhere EXECUTIONS PROGRAM [ARGUMENT...]
 *
 * Runs the program once without a preemption; once for each preemption at one point in its own code, in favour of each other
 * thread; and then so often with several preemptions by chance, in its own code or anywhere. It prints the numbers of executions,
 * of steps in the first one, and of points; and a line for each way in which executions have ended: how often, how, what was
 * printed, and the first plan that led there. */
#define _GNU_SOURCE
#include "stepper.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ENDINGS = 64 };

static struct ending {
    char how[MOST_WORDS], words[MOST_WORDS];
    int executions, first;
    struct plan plan;
} endings[MOST_ENDINGS];
static int different, executions;

/* Enters an execution that has ended. The number of this ending. */
static int enter(const char *how, const char *words, const struct plan *plan)
{
    int place = 0;

    executions++;
    while (place < different && (strcmp(endings[place].how, how) || strcmp(endings[place].words, words)))
        place++;
    if (place == MOST_ENDINGS)
        refuse("the program ends in more than %d ways", MOST_ENDINGS);
    if (place == different) {
        strcpy(endings[place].how, how);
        strcpy(endings[place].words, words);
        endings[place].first = executions;
        endings[place].plan = *plan;
        different++;
    }
    endings[place].executions++;
    return place;
}

/* The program ends with this process. */
static void give_up(int number)
{
    static const char message[] = "stepper: an execution does not end: a thread waits otherwise than on a futex\n";

    (void)number;
    if (write(2, message, sizeof message - 1) < 0)
        _exit(FAILED + 1);
    _exit(FAILED);
}

/* Stays on one processor, with the program: only one of the two runs at a time. */
static void stay(void)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
}

int main(int count, char **words)
{
    char how[MOST_WORDS], printed[MOST_WORDS];
    struct plan plan = { 0 };
    char **program = words + 3;
    bool is_anywhere;
    int drawn;

    if (count < 4 || (strcmp(words[1], "own") && strcmp(words[1], "anywhere")))
        refuse("usage: stepper own|anywhere EXECUTIONS PROGRAM [ARGUMENT...]");
    is_anywhere = !strcmp(words[1], "anywhere");
    drawn = atoi(words[2]);
    stay();
    signal(SIGALRM, give_up);
    alarm(WATCHDOG);
    run_recorded(program, how, printed);
    enter(how, printed, &plan);
    find_points();
    while (next_plan(&plan)) {
        alarm(WATCHDOG);
        run_planned(program, &plan, how, printed);
        learn(&plan, enter(how, printed, &plan));
    }
    while (drawn-- > 0 && draw_plan(&plan, is_anywhere)) {
        alarm(WATCHDOG);
        run_planned(program, &plan, how, printed);
        enter(how, printed, &plan);
    }
    printf("%d\t%d\t%d\t%d\n", executions, steps, own_points(), all_points());
    for (int place = 0; place < different; place++) {
        printf("%d\t%s\t%s\texecution %d", endings[place].executions, endings[place].how, endings[place].words,
               endings[place].first);
        print_plan(&endings[place].plan);
        putchar('\n');
    }
    return 0;
}
