/* A codec that is made when it is first needed, by whoever needs it first.
 *
 * Right: the codec is filled in before the pointer is published, so whoever gets past the check sees a whole codec; the
 * second check, with the lock held, keeps a second thread from making it again.
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
            the_codec.block_size = 16;
            atomic_store(&published, &the_codec);
        }
        pthread_mutex_unlock(&codec_lock);
    }
    return atomic_load(&published);
}

static void *encode(void *bytes)
{
    const struct codec *codec = get_codec();
    long *blocks = bytes;

    *blocks = *blocks / codec->block_size;
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
