/* Start-up of a service: a worker thread uses the settings that main sets.
 *
 * Right: `settings` is set before the worker is created, and the creation orders the two.
 */
#include <pthread.h>
#include <stddef.h>

struct settings {
    int timeout_ms;
};

static struct settings defaults = { .timeout_ms = 500 };
static struct settings *settings;
static int longest_wait_ms;

static void *serve(void *unused)
{
    (void)unused;
    longest_wait_ms = 2 * settings->timeout_ms;
    return NULL;
}

int main(void)
{
    pthread_t worker;

    settings = &defaults;
    pthread_create(&worker, NULL, serve, NULL);
    pthread_join(worker, NULL);
    return longest_wait_ms == 1000 ? 0 : 1;
}
