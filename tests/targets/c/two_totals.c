/* A cashier takes money from the till to the safe, in two goes, while an auditor adds up both.
 *
 * Wrong (torn read): each of the two sums is read and written indivisibly, and both of them together are not. What is on its way
 * while the auditor has read one of them and not the other one is counted twice.
 * Finding: assertion, in audit.
 * Preemptions: 1. With 0, the auditor adds up before the cashier's work or behind it. With 1: stop the auditor between its reads
 * and let the cashier work, or stop the cashier on its way.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int in_till = 100;
static atomic_int in_safe = 0;

static void *carry(void *unused) {
    for (int notes = 10; notes <= 20; notes += 10) {
        atomic_fetch_sub(&in_till, notes);
        atomic_fetch_add(&in_safe, notes);
    }
    return unused;
}

static void *audit(void *unused) {
    int till = atomic_load(&in_till);
    int safe = atomic_load(&in_safe);
    assert(till + safe == 100); /* FAILS HERE */
    return unused;
}

int main(void) {
    pthread_t cashier, auditor;
    pthread_create(&cashier, NULL, carry, NULL);
    pthread_create(&auditor, NULL, audit, NULL);
    pthread_join(cashier, NULL);
    pthread_join(auditor, NULL);
    return 0;
}
