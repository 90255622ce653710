/* A codec that is made when it is first needed, by whoever needs it first.
 *
 * Wrong (double-checked initialisation): the pointer is published before the codec is filled in, so that the check
 * without the lock can let a thread through to a codec whose block size is still 0.
 * Finding: crash (division by zero), in `encode`.
 * Preemptions: 1. With 0, the thread that makes the codec also fills it in before another one runs. With 1: stop it
 * between the two, and let the other thread go past the check.
 * Optimisation: the pointer is atomic, and no compiler moves the plain store in front of the atomic one here.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct codec {
    int block_size;
};

static pthread_mutex_t codec_lock = PTHREAD_MUTEX_INITIALIZER;
static struct codec the_codec;
static _Atomic(struct codec *) published;

static struct codec *get_codec(void)
{
    if (atomic_load(&published) == NULL) {
        pthread_mutex_lock(&codec_lock);
        if (atomic_load(&published) == NULL) {
            atomic_store(&published, &the_codec);
            the_codec.block_size = 16;
        }
        pthread_mutex_unlock(&codec_lock);
    }
    return atomic_load(&published);
}

static void *encode(void *bytes)
{
    const struct codec *codec = get_codec();
    long *blocks = bytes;

    *blocks = *blocks / codec->block_size; /* FAILS HERE */
    return NULL;
}

int main(void)
{
    pthread_t audio, video;
    long audio_blocks = 480, video_blocks = 8000;

    pthread_create(&audio, NULL, encode, &audio_blocks);
    pthread_create(&video, NULL, encode, &video_blocks);
    pthread_join(audio, NULL);
    pthread_join(video, NULL);
    return audio_blocks == 30 && video_blocks == 500 ? 0 : 1;
}
