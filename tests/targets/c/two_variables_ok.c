/* A lamp with two colours: one thread lights it, two others change what they find lit.
 *
 * Right: each of them holds the lock of the lamp for as long as it needs both colours to stay as they are.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lamp_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int red, green;

static void *light(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lamp_lock);
    if (red == 0)
        red = 1;
    if (green == 0)
        green = 1;
    if (red == 2)
        assert(green != 2);
    pthread_mutex_unlock(&lamp_lock);
    return NULL;
}

static void *brighten(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lamp_lock);
    if (red == 1)
        red = 2;
    if (green == 1)
        green = 2;
    pthread_mutex_unlock(&lamp_lock);
    return NULL;
}

static void *flash(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lamp_lock);
    if (red == 1)
        red = 3;
    if (green == 1)
        green = 3;
    pthread_mutex_unlock(&lamp_lock);
    return NULL;
}

int main(void)
{
    void *(*const jobs[])(void *) = { light, brighten, flash };
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, jobs[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
