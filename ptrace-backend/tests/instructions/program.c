// Small functions, each of which shows one way in which compilers access memory.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

int counter;
volatile int flag;
atomic_int hits;
static _Thread_local int own;

__attribute__((noipa)) void increment(void) { counter++; }
__attribute__((noipa)) void set_flag(void) { flag = 1; }
__attribute__((noipa)) int fetch_add(void) { return atomic_fetch_add(&hits, 2); }
__attribute__((noipa)) int swap(int to) { return atomic_exchange(&hits, to); }
__attribute__((noipa)) int compare_exchange(int from, int to) {
    return atomic_compare_exchange_strong(&hits, &from, to);
}
__attribute__((noipa)) void copy(char *to, const char *from, size_t n) { memcpy(to, from, n); }
__attribute__((noipa)) int only_stack(int a) {
    volatile int slots[8] = {a, a + 1};
    for (int i = 2; i < 8; i++) slots[i] = slots[i - 1] + slots[i - 2];
    return slots[7];
}
__attribute__((noipa)) int own_copy(void) { return ++own; }
__attribute__((noipa)) double constant_table(double x) { return x * 1.5 + 0.25; }
__attribute__((noipa)) void relax(void) { __builtin_ia32_pause(); }

static void *worker(void *argument) {
    increment();
    set_flag();
    copy(argument, "abc", 4);
    relax();
    return argument;
}

int main(int argc, char **argv) {
    (void)argv;
    char buffer[4];
    pthread_t thread;
    pthread_create(&thread, 0, worker, buffer);
    pthread_join(thread, 0);
    switch (argc) {
    case 1: return fetch_add();
    case 2: return swap(3);
    case 3: return compare_exchange(1, 2);
    case 4: return only_stack(argc);
    case 5: return own_copy();
    case 6: return (int)constant_table(argc);
    default: return 0;
    }
}
