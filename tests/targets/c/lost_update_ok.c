/* Page counter of a small web server: two request handlers count the views of a page.
 *
 * Right: the read and the write of `page_views++` are made with the lock held, so they are indivisible for the other
 * handler; main reads after both have been joined.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t views_lock = PTHREAD_MUTEX_INITIALIZER;
static int page_views;

static void *handle_request(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&views_lock);
    page_views++;
    pthread_mutex_unlock(&views_lock);
    return NULL;
}

int main(void)
{
    pthread_t first, second;

    pthread_create(&first, NULL, handle_request, NULL);
    pthread_create(&second, NULL, handle_request, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(page_views == 2);
    return 0;
}
