/* Start-up of a service: a worker thread uses the settings that main sets.
 *
 * Wrong (order violation, use before initialisation): main creates the worker before it has set `settings`.
 * Finding: crash (null pointer), in the worker.
 * Preemptions: 1. With 0, main goes on from the creation to the join and sets the pointer on its way. With 1: stop main
 * before it sets the pointer, and let the worker run.
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
    longest_wait_ms = 2 * settings->timeout_ms; /* FAILS HERE */
    return NULL;
}

int main(void)
{
    pthread_t worker;

    pthread_create(&worker, NULL, serve, NULL);
    settings = &defaults;
    pthread_join(worker, NULL);
    return longest_wait_ms == 1000 ? 0 : 1;
}
