/* Statistics of a server: each worker counts requests on its own, and adds one to the common total at its end.
 *
 * Wrong (lost update): `bump` is a read and a write, and on the total nothing protects it.
 * Finding: assertion, in main.
 * Preemptions: 1. With 0, each worker reads and writes back to back, for nothing blocks in between. With 1: stop the
 * first worker between its read and its write of the total, and let the other one run to its end.
 * Special: up to the last call of each worker, the instruction that loses the update has touched private memory only, so
 * often that a tool that watches instructions may have given up on it.
 * Optimisation: a function that is not inlined remains one; at -O2 it is one unlocked `add`, still a read and a write.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

enum { REQUESTS = 40 };

static int own[2];
static int total;

__attribute__((noinline)) static void bump(int *counter)
{
    *counter += 1;
}

static void *serve(void *counter)
{
    for (int i = 0; i < REQUESTS; i++) {
        bump(counter);
    }
    bump(&total);
    return NULL;
}

int main(void)
{
    pthread_t first, second;

    pthread_create(&first, NULL, serve, &own[0]);
    pthread_create(&second, NULL, serve, &own[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(total == 2); /* FAILS HERE */
    return 0;
}
