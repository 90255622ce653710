/* Two threads run code that the program has made: it adds to a counter in two steps. */
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

/* mov eax, [rdi]; inc eax; mov [rdi], eax; ret */
static const unsigned char code[] = {0x8b, 0x07, 0xff, 0xc0, 0x89, 0x07, 0xc3};

static void (*add)(int *);
static int counter;

static void *adds(void *unused)
{
    add(&counter);
    return unused;
}

int main(void)
{
    pthread_t thread;
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(page != MAP_FAILED);
    memcpy(page, code, sizeof code);
    memcpy(&add, &page, sizeof add);
    pthread_create(&thread, NULL, adds, NULL);
    adds(NULL);
    pthread_join(thread, NULL);
    assert(counter == 2);
    return 0;
}
