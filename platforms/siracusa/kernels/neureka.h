/* N-EUREKA as the firmware brings it. Write the 24 words of a free job, waiting for one; start the job written last; wait
 * for the oldest that was not waited for. Two jobs may have begun and not be waited for. */
void tilewright_neureka_write(const uint32_t *words);
void tilewright_neureka_start(void);
void tilewright_neureka_wait(void);

#ifndef TILEWRIGHT_NEUREKA_WEIGHTS
#define TILEWRIGHT_NEUREKA_WEIGHTS 0x10400000u /* first byte of the weight memory */
#endif

/* One tile: results, inputs with what padding they lack before and behind them, the first output channel, rows of sums and
 * output channels of a job. Jobs of the same rows are as many as `groups`, and `jobs` are all of them; what the cores are
 * told of them begins at `shares`. */
typedef struct {
    int rows, columns, channels, first;
    int in_rows, in_columns;
    int top, left;
    int job_rows, job_channels, groups, jobs, shares;
} tilewright_neureka_tile;

/* A layer. `outs` and `ins` are the channels that are computed at once; `depth` is that of a pixel, of `apart` channels that
 * of a tile; `pitch` is the stride of single taps, `step` and `column_step` those of 3x3 windows in sums, which are made at
 * stride 1. Of weights:
 * bytes from output channel to output channel (of `apart` ones from 28 to 28), and what takes half of their range off.
 * `zero` is what padding counts as, `mode` the last word. */
typedef struct {
    int apart, taps, outs, ins, depth, pitch, step, column_step, weight_bytes, half;
    uint32_t zero, mode;
} tilewright_neureka_layer;

/* What a layer is computed with; `words` are the numbers that the cores have for a channel. */
typedef struct {
    const void *x;
    void *codes;
    const unsigned char *w, *scale;
    const int32_t *bias, *form;
    void *scratch;
    int words;
} tilewright_neureka_operands;

/* What the cores are told of a job: sums and codes of its first output channel, numbers of the requantisation, output
 * channels, pixels of results. Four jobs of a layer have a place, and those of the layer before have others: one is written
 * while another one is computed and a third one read. */
typedef struct {
    const int32_t *sums;
    unsigned char *codes;
    const int32_t *form;
    int outs, pixels;
} tilewright_neureka_share;

enum { TILEWRIGHT_NEUREKA_SHARES = 8 };

#if defined(__GNUC__)
#define TILEWRIGHT_NEUREKA_ONCE __attribute__((noinline, unused))
#else
#define TILEWRIGHT_NEUREKA_ONCE
#endif

/* Rows or columns of sums for so many of results. */
static inline int tilewright_neureka_computed(int results, int step) { return (results - 1) * step + 1; }

static inline int tilewright_neureka_least(int one, int other) { return one < other ? one : other; }

/* Write down a job, which is some rows of sums, in sixes, times some output channels: all, half, or as many as are computed
 * at once; of jobs with the same rows the output channels go first. The sums of two jobs take turns behind the shares. */
TILEWRIGHT_NEUREKA_ONCE static void tilewright_neureka_job(const tilewright_neureka_layer *layer, const tilewright_neureka_tile *tile, int job,
                                                           const tilewright_neureka_operands *at)
{
    const int line = tile->groups > 1 ? job / tile->groups : job, half = layer->step >> 1;
    const int row = line * tile->job_rows, first = (job - line * tile->groups) * tile->job_channels;
    const int high = tilewright_neureka_computed(tile->rows, layer->step);
    const int columns = tilewright_neureka_computed(tile->columns, layer->column_step);
    const int rows = tilewright_neureka_least(high - row, tile->job_rows);
    const int outs = tilewright_neureka_least(tile->channels - first, tile->job_channels);
    const int room = tilewright_neureka_least(high, tile->job_rows) * columns * tilewright_neureka_least(tile->channels, tile->job_channels);
    tilewright_neureka_share *const shares = at->scratch;
    int32_t *const sums = (int32_t *)(void *)(shares + TILEWRIGHT_NEUREKA_SHARES) + (job & 1) * room;
    const tilewright_neureka_share share = {
        sums,
        (unsigned char *)at->codes + (row >> half) * tile->columns * tile->channels + first,
        at->form + first * at->words,
        outs,
        ((rows + half) >> half) * tile->columns,
    };
    const int pixel = layer->apart ? tile->channels : layer->depth; /* bytes */
    const int many_outs = (outs + layer->outs - 1) / layer->outs, last_out = outs - (many_outs - 1) * layer->outs;
    const int many_ins = layer->apart ? many_outs : (layer->depth + layer->ins - 1) / layer->ins;
    const int last_in = layer->apart ? last_out : layer->depth - (many_ins - 1) * layer->ins;
    const int many_rows = (rows + 5) / 6, last_row = rows - (many_rows - 1) * 6;
    const int many_columns = (columns + 5) / 6, last_column = columns - (many_columns - 1) * 6;
    const int around = layer->taps - 1, top = tile->top > row ? tile->top - row : 0;
    const int below = row - tile->top + rows + around - tile->in_rows, over = columns + around - tile->left - tile->in_columns;
    const int from = (row * layer->pitch - tile->top) * tile->in_columns - tile->left;
    const int channel = tile->first + first;
    uint32_t words[24];
    words[0] = (uint32_t)(uintptr_t)at->w + (uint32_t)((layer->apart ? channel / 28 : channel) * layer->weight_bytes) - TILEWRIGHT_NEUREKA_WEIGHTS;
    words[1] = (uint32_t)(uintptr_t)at->x + (uint32_t)(from * pixel + (layer->apart ? first : 0));
    words[2] = (uint32_t)(uintptr_t)sums;
    words[3] = (uint32_t)(uintptr_t)(at->scale + first); /* all are 1 */
    words[4] = 0; /* no shifts */
    words[5] = (uint32_t)(uintptr_t)(at->bias + first);
    words[6] = (uint32_t)(pixel * layer->pitch);
    words[7] = (uint32_t)(tile->in_columns * pixel * layer->pitch);
    words[8] = 0;
    words[9] = 32;
    words[10] = (uint32_t)outs * 4u;
    words[11] = (uint32_t)(outs * columns) * 4u;
    words[12] = 32;
    words[13] = layer->apart ? 0u : (uint32_t)layer->weight_bytes;
    words[14] = 0;
    words[15] = (uint32_t)last_out << 16 | (uint32_t)last_in;
    words[16] = (uint32_t)last_row << 16 | (uint32_t)last_column;
    words[17] = (uint32_t)(last_row + around) << 16 | (uint32_t)(last_column + around); /* padding too: what is left out is 0 */
    words[18] = (uint32_t)many_outs << 16 | (uint32_t)many_ins;
    words[19] = (uint32_t)many_rows << 16 | (uint32_t)many_columns;
    words[20] = (uint32_t)top << 28 | (uint32_t)tile->left << 16 | layer->zero;
    /* Padding behind is counted from the end of a full square of results, whatever the size of the last one. */
    words[20] |= over > 0 ? (uint32_t)(over + 6 - last_column) << 24 : 0u;
    words[20] |= below > 0 ? (uint32_t)(below + 6 - last_row) << 20 : 0u;
    words[21] = (uint32_t)-layer->half; /* of the stored weights */
    words[22] = 0;
    words[23] = layer->mode;
    tilewright_neureka_write(words);
    shares[tile->shares + (job & 3)] = share;
}
