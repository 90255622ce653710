/* A cashier takes money from the till to the safe, in two goes, while an auditor adds up both.
 *
 * Right: the money is under way, and both sums are read, with a mutex held.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER;
static atomic_int in_till = 100;
static atomic_int in_safe = 0;

static void *carry(void *unused) {
    for (int notes = 10; notes <= 20; notes += 10) {
        pthread_mutex_lock(&books);
        atomic_fetch_sub(&in_till, notes);
        atomic_fetch_add(&in_safe, notes);
        pthread_mutex_unlock(&books);
    }
    return unused;
}

static void *audit(void *unused) {
    pthread_mutex_lock(&books);
    int till = atomic_load(&in_till);
    int safe = atomic_load(&in_safe);
    pthread_mutex_unlock(&books);
    assert(till + safe == 100);
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
