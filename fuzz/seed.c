/* The source of the programs in corpus/elf. None of them is run.

   size="-Os -nostdlib -fcf-protection=none -fno-asynchronous-unwind-tables -Wl,--build-id=none,-z,noseparate-code"
   place="-ffile-prefix-map=$PWD=. -gno-record-gcc-switches"
   gcc $size $place -g -gdwarf-5 -static seed.c -o corpus/elf/dwarf-5.elf
   gcc $size $place -g -gdwarf-4 -gz=zlib -static seed.c -o corpus/elf/dwarf-4-compressed.elf
   gcc $size -s -pie -DIMPORTS seed.c -lc -o corpus/elf/stripped-with-imports.elf
   gcc $size $place -g -gdwarf-5 -funwind-tables -c seed.c -o corpus/elf/relocatable.elf */

struct counter {
    _Atomic int hits;
    long last[3];
    struct counter *next;
};

static struct counter first;
struct counter second = { .next = &first };

#ifdef IMPORTS
extern int pthread_mutex_lock(void *);
extern int pthread_create(void *, void *, void *(*)(void *), void *);
static char lock[40];
#endif

static inline __attribute__((always_inline)) long handle_request(struct counter *counter, int n)
{
    counter->hits += 1;
    return counter->last[n % 3] += n;
}

__attribute__((noinline)) void *worker(void *argument)
{
    struct counter *counter = argument;
    for (int i = 0; i < 3; i++) {
        handle_request(counter, i);
    }
    return counter->next;
}

void _start(void)
{
#ifdef IMPORTS
    pthread_mutex_lock(lock);
    pthread_create(0, 0, worker, &second);
#endif
    worker(&first);
    for (;;) {
    }
}
