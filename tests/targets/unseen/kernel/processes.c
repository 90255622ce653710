/* What one thread does with the process, which another one comes upon. The first argument chooses what it is; with a second one it comes
 * first where threads run one after the other. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };
static char *const PLACE = (char *)0x10000000;

static const char *what;
static pthread_t looker;
static volatile int begun, seen;

static int allow(pthread_t thread, int processors)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int i = 0; i < processors; i++)
        CPU_SET(i, &set);
    return pthread_setaffinity_np(thread, sizeof set, &set);
}

static void *changes(void *unused)
{
    if (!strcmp(what, "processors")) {
        allow(looker, 1);
    } else if (!strcmp(what, "mappings")) {
        munmap(PLACE, PAGE);
    } else if (!strcmp(what, "vfork")) {
        pid_t child = vfork();
        if (child == 0) {
            begun = 1;
            _exit(0);
        }
        waitpid(child, NULL, 0);
    } else {
        begun = 1;
        execl("/bin/true", "true", NULL);
    }
    return unused;
}

static int is_mapped(void)
{
    char line[512];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        found |= !strncmp(line, "10000000-", 9);
    fclose(maps);
    return found;
}

static void *looks(void *unused)
{
    if (!strcmp(what, "processors")) {
        cpu_set_t set;
        assert(pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0);
        assert(CPU_COUNT(&set) != 1);
    } else if (!strcmp(what, "mappings")) {
        assert(is_mapped());
    } else {
        seen = begun;
        assert(!seen);
    }
    return unused;
}

int main(int count, char **arguments)
{
    pthread_t changer;
    int is_first = count > 2;

    assert(count > 1);
    what = arguments[1];
    assert(allow(pthread_self(), 2) == 0);
    assert(mmap(PLACE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == PLACE);
    pthread_create(is_first ? &changer : &looker, NULL, is_first ? changes : looks, NULL);
    pthread_create(is_first ? &looker : &changer, NULL, is_first ? looks : changes, NULL);
    pthread_join(looker, NULL);
    pthread_join(changer, NULL);
    return 0;
}
