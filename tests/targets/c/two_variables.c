/* A lamp with two colours: one thread lights it, two others change what they find lit.
 *
 * Wrong (atomicity violation, of two variables): `light` sets both colours and looks at them again, as if nobody could
 * change them in between. Only where one thread changes both does that show. (Figure 1 of the paper on Falcon.)
 * Finding: assertion, in `light`.
 * Preemptions: 1. With 0, `light` runs undivided, for nothing blocks in it. With 1: stop it behind its writes, and let one of
 * the others run.
 * Optimisation: both variables are volatile, or a compiler may remember what it has written.
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static volatile int red, green;

static void *light(void *unused)
{
    (void)unused;
    if (red == 0)
        red = 1;
    if (green == 0)
        green = 1;
    if (red == 2)
        assert(green != 2); /* FAILS HERE */
    return NULL;
}

static void *brighten(void *unused)
{
    (void)unused;
    if (red == 1)
        red = 2;
    if (green == 1)
        green = 2;
    return NULL;
}

static void *flash(void *unused)
{
    (void)unused;
    if (red == 1)
        red = 3;
    if (green == 1)
        green = 3;
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
