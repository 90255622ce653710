/* Two tellers of a bank pay into one account.
 *
 * Where COUNT_EXECUTIONS names a file, each execution appends one byte to it.
 */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "account.h"

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

static void count_execution(void)
{
    const char *path = getenv("COUNT_EXECUTIONS");

    if (path) {
        int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);

        if (file < 0 || write(file, ".", 1) != 1)
            exit(2);
        close(file);
    }
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
