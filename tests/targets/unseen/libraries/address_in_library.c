/* The text of an address is written into a buffer of the C library, by a function that the library calls itself. */
#include <assert.h>
#include <net/ethernet.h>
#include <netinet/ether.h>
#include <pthread.h>
#include <string.h>

static void writes(unsigned char last)
{
    struct ether_addr address = { { 1, 2, 3, 4, 5, last } };
    const char *text = ether_ntoa(&address);
    assert(text[strlen(text) - 1] == '0' + last);
}

static void *other(void *unused)
{
    writes(7);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    writes(6);
    pthread_join(thread, NULL);
    return 0;
}
