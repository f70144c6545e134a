/* A pointwise layer before a mean over planes, two channels of it taken back: the gradient of a result is one number
 * where its sign is set. */
typedef struct {
    const float *w, *target, *y; /* y: the gradient of each plane */
    float *next;
    const uint8_t *signs;                               /* of a pixel, eight results a byte */
    int results, pixels, bytes, masked;
    int w_result, w_channel, target_result, target_channel, next_result, next_channel; /* elements from one to the next */
    float rate, decay;
    float *aside; /* weights of both channels times the gradient, of a multiple of eight results */
} tilewright_signed;

#define TILEWRIGHT_SIGNED_SUM(at) \
    if (bits & (1u << (at))) { \
        sums[2 * (at)] += x0, sums[2 * (at) + 1] += x1; \
    }
#define TILEWRIGHT_SIGNED_BACK(at) \
    if (bits & (1u << (at))) { \
        first += w[2 * (at)], second += w[2 * (at) + 1]; \
    }

/* Weights of two channels move by what their planes make with eight results. */
static void tilewright_signed_slopes(const tilewright_signed *s, const float *planes, int channels, int channel, int from)
{
    float sums[16] = {0};
    const float *const other = planes + (channels > 1 ? s->pixels : 0);
    const uint8_t *signs = s->signs + from / 8;
    for (int pixel = 0; pixel < s->pixels; pixel++, signs += s->bytes) {
        const unsigned int bits = *signs;
        const float x0 = planes[pixel], x1 = other[pixel];
        TILEWRIGHT_SIGNED_SUM(0u)
        TILEWRIGHT_SIGNED_SUM(1u)
        TILEWRIGHT_SIGNED_SUM(2u)
        TILEWRIGHT_SIGNED_SUM(3u)
        TILEWRIGHT_SIGNED_SUM(4u)
        TILEWRIGHT_SIGNED_SUM(5u)
        TILEWRIGHT_SIGNED_SUM(6u)
        TILEWRIGHT_SIGNED_SUM(7u)
    }
    for (int o = from; o < from + 8 && o < s->results; o++) {
        for (int c = 0; c < channels; c++) {
            const float step = s->rate * s->y[o] * sums[2 * (o - from) + c];
            const float old = s->target[o * s->target_result + (channel + c) * s->target_channel];
            s->next[o * s->next_result + (channel + c) * s->next_channel] = s->decay * old + step;
        }
    }
}

/* Both: the weights' step, and the gradient of one or two planes over them. */
static void tilewright_signed_back(const tilewright_signed *s, float *planes, int channels, int channel)
{
    const int results = (s->results + 7) / 8 * 8;
    for (int o = 0; o < results; o++) {
        for (int c = 0; c < 2; c++) {
            const int own = c < channels && o < s->results;
            s->aside[2 * o + c] = own ? s->w[o * s->w_result + (channel + c) * s->w_channel] * s->y[o] : 0.0f;
        }
    }
    for (int o = 0; o < s->results; o += 8) {
        tilewright_signed_slopes(s, planes, channels, channel, o);
    }
    for (int pixel = 0; pixel < s->pixels; pixel++) {
        const uint8_t *signs = s->signs + pixel * s->bytes;
        const float *w = s->aside;
        float first = 0.0f, second = 0.0f;
        for (int o = 0; o < results; o += 8, w += 16) {
            const unsigned int bits = *signs++;
            TILEWRIGHT_SIGNED_BACK(0u)
            TILEWRIGHT_SIGNED_BACK(1u)
            TILEWRIGHT_SIGNED_BACK(2u)
            TILEWRIGHT_SIGNED_BACK(3u)
            TILEWRIGHT_SIGNED_BACK(4u)
            TILEWRIGHT_SIGNED_BACK(5u)
            TILEWRIGHT_SIGNED_BACK(6u)
            TILEWRIGHT_SIGNED_BACK(7u)
        }
        planes[pixel] = !s->masked || planes[pixel] > 0.0f ? first : 0.0f;
        if (channels > 1) {
            float *const behind = planes + s->pixels + pixel;
            *behind = !s->masked || *behind > 0.0f ? second : 0.0f;
        }
    }
}
