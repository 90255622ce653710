/* A thread with variables of every kind at a failing line. One preemption loses an update of the counter. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum colour { RED, GREEN = 7 };
struct point { int x, y; };
union word { float real; unsigned char bytes[4]; };

static int counter;

static void *add(void *unused)
{
    counter++;
    return unused;
}

int main(void)
{
    bool ready = true;
    char letter = 'x';
    double real = 2.5;
    enum colour colour = GREEN;
    struct point points[2] = {{1, 2}, {3, -4}};
    struct point *second = &points[1];
    const char *text = "in a string";
    union word word = {.real = 1.0f};
    unsigned long large = 18446744073709551615ul;
    pthread_t first, other;

    pthread_create(&first, NULL, add, NULL);
    pthread_create(&other, NULL, add, NULL);
    pthread_join(first, NULL);
    pthread_join(other, NULL);
    assert(counter == 2 && ready && letter && real > 0 && colour && second && text && word.real > 0 && large); /* FAILS HERE */
    return 0;
}
