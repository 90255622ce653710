/* Page counter of a small web server: two request handlers count the views of a page.
 *
 * Wrong (lost update): `page_views++` is a read and a write. What the other handler adds in between is lost.
 * Finding: assertion, in main.
 * Preemptions: 1. With 0, each handler reads and writes back to back, for nothing blocks in between. With 1: stop the
 * first handler between its read and its write, and let the other one run to its end.
 * Optimisation: one increment per thread leaves nothing to merge; -O2 makes it one unlocked `add`, still a read and a
 * write.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int page_views;

static void *handle_request(void *unused)
{
    (void)unused;
    page_views++;
    return NULL;
}

int main(void)
{
    pthread_t first, second;

    pthread_create(&first, NULL, handle_request, NULL);
    pthread_create(&second, NULL, handle_request, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(page_views == 2); /* FAILS HERE */
    return 0;
}
