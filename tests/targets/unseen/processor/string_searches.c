/* A thread looks for the end of a text, and compares two texts, by single instructions, which have no limit but the end. Another thread
 * writes to a number behind them; with the argument `ends`, to the end of one text; with `grows`, twice: one letter more is a length that
 * the text has for a moment. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static struct {
    char text[8];
    char other[8];
    volatile char number;
} shared = {"abc", "abd", 0};

static uint64_t length(const char *text)
{
    uint64_t left = UINT64_MAX;
    __asm__ volatile("repne scasb" : "+D"(text), "+c"(left) : "a"(0) : "memory", "cc");
    return UINT64_MAX - left - 1;
}

static uint64_t in_common(const char *first, const char *second)
{
    uint64_t left = UINT64_MAX;
    __asm__ volatile("repe cmpsb" : "+S"(first), "+D"(second), "+c"(left) : : "memory", "cc");
    return UINT64_MAX - left - 1;
}

static int grows;

static void *searches(void *unused)
{
    const uint64_t found = length(shared.text);
    assert(grows ? found != 4 : found == 3);
    assert(in_common(shared.text, shared.other) == 2);
    return unused;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    grows = count > 1 && strcmp(arguments[1], "grows") == 0;
    pthread_create(&thread, NULL, searches, NULL);
    if (count > 1)
        *(volatile char *)&shared.text[3] = 'd';
    if (grows)
        *(volatile char *)&shared.text[4] = 'e';
    if (count == 1)
        shared.number = 1;
    pthread_join(thread, NULL);
    return 0;
}
