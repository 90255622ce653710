/* Two threads add to a number that lies in a page of code. The argument says how it can be written there: since before there are threads
 * (`before`), or since later on (`later`), where nothing says in which function the place is; or because code and number are in a
 * section of their own (`section`). With a second argument they take a lock.
 */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* A function that does not say where it ends, and behind it what could be code as well: `add %al, (%rax)`. */
asm(".pushsection .text\n"
    ".balign 64\n"
    ".type open_ended, @function\n"
    "open_ended: ret\n"
    ".balign 64\n"
    "in_text: .zero 64\n"
    ".popsection\n"
    ".pushsection .mixed, \"awx\", @progbits\n"
    "in_section: .zero 64\n"
    ".popsection");
extern volatile int in_text[16] __attribute__((visibility("hidden")));
extern volatile int in_section __attribute__((visibility("hidden")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, begun = PTHREAD_MUTEX_INITIALIZER;
static volatile int *volatile number = in_text;
static int is_section, is_locked;

static __attribute__((noinline, section(".mixed,\"awx\",@progbits#"))) void add_in_section(void)
{
    in_section = in_section + 1;
}

static void add(void)
{
    if (is_locked)
        pthread_mutex_lock(&lock);
    if (is_section)
        add_in_section();
    else
        *number = *number + 1;
    if (is_locked)
        pthread_mutex_unlock(&lock);
}

static void *adds(void *unused)
{
    pthread_mutex_lock(&begun);
    pthread_mutex_unlock(&begun);
    add();
    return unused;
}

static void permit(void)
{
    uintptr_t page = (uintptr_t)in_text & -4096;
    assert(mprotect((void *)page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
    *number = 1;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    assert(argc >= 2);
    is_section = !strcmp(argv[1], "section");
    is_locked = argc > 2;
    if (is_section)
        in_section = 1;
    else if (!strcmp(argv[1], "before"))
        permit();
    pthread_mutex_lock(&begun);
    pthread_create(&thread, NULL, adds, NULL);
    if (!strcmp(argv[1], "later"))
        permit();
    pthread_mutex_unlock(&begun);
    add();
    pthread_join(thread, NULL);
    for (int i = 1; i < 16; i++)
        assert(in_text[i] == 0);
    int end = is_section ? in_section : *number;
    if (end != 3)
        fprintf(stderr, "%d\n", end);
    assert(end == 3);
    return 0;
}
