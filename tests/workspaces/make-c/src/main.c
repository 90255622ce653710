/* Two tellers of a bank pay into one account. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#include "account.h"
#include "count.h"

enum { DEPOSITS = 2, AMOUNT = 10 };

static struct account shared = { PTHREAD_MUTEX_INITIALIZER, 0 };

static void *teller(void *unused)
{
    int handled = 0;

    (void)unused;
    for (int i = 0; i < DEPOSITS; i++) {
        deposit(&shared, AMOUNT);
        handled += AMOUNT;
    }
    assert(handled == DEPOSITS * AMOUNT);
    return NULL;
}

int main(void)
{
    pthread_t first, second;

    count_execution();
    pthread_create(&first, NULL, teller, NULL);
    pthread_create(&second, NULL, teller, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(shared.balance == 2 * DEPOSITS * AMOUNT);
    return 0;
}
