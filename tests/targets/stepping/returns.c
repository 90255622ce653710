/* An update of a counter gets lost, which is told by the exit code alone: no frame is left when the process ends. The words
 * in comments name lines for the tests.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

static int counter;

static void *add(void *unused)
{
    counter++;
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, add, NULL);
    pthread_create(&second, NULL, add, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL); /* join second */
    if (counter != 2) { /* check */
        fputs("lost\n", stderr); /* complain */
        return 3; /* RETURNS */
    }
    return 0;
}
