// Two threads wait for a flag, and for longer from look to look. Their loops change nothing but their own counters, and end only
// once the third thread has gone.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int flag;
static int result;

static void *await(void *unused) {
    for (unsigned step = 1; !atomic_load_explicit(&flag, memory_order_acquire); step++)
        for (unsigned i = 0; i < (step < 6 ? step : 6); i++)
            __builtin_ia32_pause();
    return result == 7 ? unused : &result;
}

int main(void) {
    pthread_t waiting[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&waiting[i], NULL, await, NULL);
    result = 7;
    atomic_store_explicit(&flag, 1, memory_order_release);
    int wrong = 0;
    for (int i = 0; i < 2; i++) {
        void *seen;
        pthread_join(waiting[i], &seen);
        wrong |= seen != NULL;
    }
    return wrong;
}
