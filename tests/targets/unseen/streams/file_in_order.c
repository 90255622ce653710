// Two threads write to one stream of the C library under a lock: with -DTRY nothing fails; with -DORDER the assertion wants them in one
// order; with -DKEPT one looks at the text in memory without the lock.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *stream;
static char *volatile text;
static size_t size;

static void *write_word(void *word) {
    pthread_mutex_lock(&lock);
#ifdef KEPT
    rewind(stream);
#endif
    fprintf(stream, "%s", (const char *)word);
    fflush(stream);
    pthread_mutex_unlock(&lock);
    return NULL;
}

#ifdef KEPT
static void *look(void *unused) {
    volatile const char *kept = text;
    char first = kept[0];
    assert(first == kept[1]);
    return unused;
}
#endif

int main(void) {
    pthread_t threads[3];
    int count = 0;
    stream = open_memstream((char **)&text, &size);
    assert(stream);
#ifdef KEPT
    fprintf(stream, "xx");
    fflush(stream);
    pthread_create(&threads[count++], NULL, look, NULL);
#endif
    pthread_create(&threads[count++], NULL, write_word, "aa");
    pthread_create(&threads[count++], NULL, write_word, "bb");
    while (count--) pthread_join(threads[count], NULL);
    fflush(stream);
#ifdef ORDER
    assert(text[0] == 'a');
#endif
    assert(size == 4 || text[0] == text[1]);
    return 0;
}
