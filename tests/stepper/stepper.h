/* A stepper: it runs a program again and again, one thread at a time, and preempts threads at chosen instructions. It is a
 * reference for the tool: plain ptrace, and no code in common with it.
 *
 * In the first execution each instruction from the first `pthread_create` on is stepped and recorded, and threads run until
 * they wait or end. A point is a thread at an instruction of that record. Each further execution follows a plan: where a
 * thread comes to a point of the plan, another thread goes on. To a point a thread runs at full speed, up to a hardware
 * breakpoint; all other threads are stopped meanwhile.
 *
 * Nothing depends on time. The only call in which a thread may wait is that on a futex, and whether it has to is known
 * beforehand: a thread that is about to wait is held at the entry of the call until the word has another value. A
 * wake-up at which the word has the old value again is not noticed: no mutex and no join of the C library needs one. */
#ifndef STEPPER_H
#define STEPPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    MOST_THREADS = 16,
    MOST_STEPS = 400000,
    MOST_PREEMPTIONS = 6,
    MOST_WORDS = 128,
    /* Seconds that one execution may take. */
    WATCHDOG = 30,
};

/* Exit codes. */
enum { FAILED = 1, REFUSED = 3 };

/* tracee.c: the threads of the program, each of which stands still or is the one that runs. */

enum stop {
    STEPPED,
    AT_BREAKPOINT,
    AT_CALL,
    AFTER_CALL,
    AT_SIGNAL,
    CREATED,
    EXECUTED,
    /* The thread has ended. */
    OVER,
    /* The process has ended. */
    ENDED,
};

struct thread {
    pid_t tid;
    bool exists, is_over;
    /* The thread is held at the entry of a call that waits until the word at `futex` is not `expected`. */
    bool is_waiting;
    uintptr_t futex;
    uint32_t expected;
    /* A signal that it gets when it goes on. */
    int signal;
    int children;
};

/* Numbers of threads are the same in each execution, in whichever order threads are created. */
extern struct thread threads[MOST_THREADS];

/* Addresses of the program's own code, and before it of what else its file begins with. */
extern uintptr_t image_start, image_end;

/* The thread that was created last. */
extern int created;

/* Starts the program, and lets it run until it has a second thread. False where it has ended before. */
bool start(char **program);

/* Lets one thread go on by this request of ptrace, up to its next stop. */
enum stop resume(int thread, int request);

/* Whether a thread could go on. */
bool is_runnable(int thread);

/* The address of the instruction that comes next. */
uintptr_t at(int thread);

/* Whether that is a system call. */
bool is_call(int thread);

/* Stops the thread whenever it comes to this address, or never with 0. */
void break_at(int thread, uintptr_t address);

/* Kills the process if it has not ended. Says how it ended, and what it wrote to standard error: the first line that is one word,
 * or else the first line. */
void finish(bool is_deadlock, char *how, char *words);

/* Says why the program is none for the stepper, and exits. */
__attribute__((noreturn, format(printf, 1, 2))) void refuse(const char *format, ...);

/* execution.c: one execution. */

/* Orders of threads: the one that goes on where another one waits or ends. */
enum order {
    /* The next higher number: creators before those that they create. */
    UPWARDS,
    /* The next lower number: the first thread until it waits, and then the last one. */
    DOWNWARDS,
    /* The next lower number, and new threads as soon as they are created. */
    CREATED_FIRST,
    ORDERS,
};

struct point {
    int thread;
    uintptr_t address;
    /* The number of times that the thread was there in the first execution, this one included. */
    int occurrence;
    /* Its place in the record of the first execution; the threads that could go on there, and those that had not ended: bits. */
    int place;
    unsigned runnable, living;
};

struct preemption {
    struct point point;
    /* The thread that goes on, or the next higher one that can. */
    int to;
};

struct plan {
    enum order order;
    int count;
    struct preemption preemptions[MOST_PREEMPTIONS];
    /* Unless this is 0, it is chance which thread goes on where one waits or ends. */
    uint64_t chance;
};

/* The record of the first execution, in the order of its steps. */
extern struct point record[MOST_STEPS];
extern int steps;

/* Runs the program step by step, upwards, and records it. */
void run_recorded(char **program, char *how, char *words);

/* Runs it by a plan, whose points are in the order of the record. */
void run_planned(char **program, const struct plan *plan, char *how, char *words);

/* plan.c: points, and plans of them. */

/* Finds points in the record: for each thread and instruction the first, the second and the last time, unless all other threads
 * have ended. */
void find_points(void);

/* Numbers of points in the program's own code and anywhere. */
int own_points(void);
int all_points(void);

/* Each plan with one preemption in the program's own code, one after the other; false when there is none left. */
bool next_plan(struct plan *plan);

/* Takes in how the execution of that plan has ended. Threads meet at a point if it matters whether a preemption comes there or at
 * the point before. */
void learn(const struct plan *plan, int ending);

/* A plan with several preemptions by chance, most of them where threads meet. False without any point. */
bool draw_plan(struct plan *plan, bool is_anywhere);

/* The next number of a sequence by chance. */
uint64_t draw(uint64_t *state);

void print_plan(const struct plan *plan);

#endif
