/* N-EUREKA played in C, behind its own registers: 24 words a job, two contexts, acquire, start, status, event.
 *
 * Sums are those of 32 bits that wrap. A job is computed as late as may be, when its end is waited for, so that who does
 * not wait finds no results; with TW_NEUREKA_EARLY when it is started, so that who starts too early overwrites what is
 * still read. Addresses reach L1 only: of every other pointer the low 18 bits are taken. What the real unit does not
 * take, or nobody has seen it do, ends the program. */
#include "neureka.h"

#include "harness.h"

#ifndef TW_NEUREKA_L1
#define TW_NEUREKA_L1 0x10000000u
#endif
#ifndef TILEWRIGHT_NEUREKA_WEIGHTS
#define TILEWRIGHT_NEUREKA_WEIGHTS 0x10400000u
#endif
#define TW_REACH 0x3FFFFu

enum { TW_THREE, TW_APART, TW_ONE };

/* A job, its words taken apart. */
struct tw_shape {
    int mode, bits, outs_at_once, ins_at_once;
    int many_outs, many_ins, many_rows, many_columns;
    int rest_outs, rest_ins, rest_rows, rest_columns, rest_in_rows, rest_in_columns;
    int top, right, bottom, left, padding;
    int is_signed, normalised, streamed, wide_scale, wide_out, own_shift, biased, clip_signed, shift;
    int32_t offset;
};

/* One tile of at most 6 x 6 results: what it reads, and where its sums grow. */
struct tw_tile {
    int rows, columns, in_rows, in_columns;
    uint32_t row, column;
    int first, last, upper, lower;
};

static uint32_t tw_job[2][TW_NEUREKA_MANY];
static uint32_t tw_acquired, tw_started, tw_done; /* jobs so far */
static uint32_t tw_mask, tw_pending;

static void tw_stop(const char *why)
{
    tw_print("tilewright: N-EUREKA: ");
    tw_print(why);
    tw_print("\n");
    tw_exit(TW_TRAP);
}

static unsigned char *tw_near(uint32_t address)
{
    return (unsigned char *)(uintptr_t)(TW_NEUREKA_L1 + (address & TW_REACH));
}

static int32_t tw_word(uint32_t address)
{
    const unsigned char *at = tw_near(address);
    return (int32_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
}

static struct tw_shape tw_shape_of(const uint32_t *w)
{
    const uint32_t how = w[23];
    struct tw_shape s;
    s.mode = (int)(how >> 5 & 3u);
    s.bits = (int)(how & 7u) + 1;
    s.outs_at_once = s.mode == TW_APART ? 28 : 32;
    s.ins_at_once = s.mode == TW_ONE ? 32 : 28;
    s.many_outs = (int)(w[18] >> 16);
    s.many_ins = (int)(w[18] & 0xFFFFu);
    s.many_rows = (int)(w[19] >> 16);
    s.many_columns = (int)(w[19] & 0xFFFFu);
    s.rest_outs = (int)(w[15] >> 16);
    s.rest_ins = (int)(w[15] & 0xFFFFu);
    s.rest_rows = (int)(w[16] >> 16);
    s.rest_columns = (int)(w[16] & 0xFFFFu);
    s.rest_in_rows = (int)(w[17] >> 16);
    s.rest_in_columns = (int)(w[17] & 0xFFFFu);
    s.top = (int)(w[20] >> 28);
    s.right = (int)(w[20] >> 24 & 15u);
    s.bottom = (int)(w[20] >> 20 & 15u);
    s.left = (int)(w[20] >> 16 & 15u);
    s.is_signed = (int)(how >> 26 & 1u);
    s.padding = s.is_signed ? (int)(int8_t)(w[20] & 255u) : (int)(w[20] & 255u);
    s.normalised = (int)(how >> 4 & 1u);
    s.wide_scale = (how >> 12 & 3u) == 2u;
    s.streamed = (int)(how >> 14 & 1u);
    s.shift = (int)(how >> 16 & 31u);
    s.wide_out = (how >> 21 & 3u) == 2u;
    s.clip_signed = (int)(how >> 23 & 1u);
    s.own_shift = (int)(how >> 24 & 1u);
    s.biased = (int)(how >> 25 & 1u);
    s.offset = (int32_t)w[21];
    return s;
}

static void tw_check(const struct tw_shape *s, const uint32_t *w)
{
    if (s->mode > TW_ONE || w[22] != 0u) {
        tw_stop("a mode or a filter mask that is not played");
    }
    if (s->mode == TW_ONE && s->top + s->right + s->bottom + s->left != 0) {
        tw_stop("padding of a single tap");
    }
    if (s->rest_outs < 1 || s->rest_outs > s->outs_at_once || s->rest_ins < 1 || s->rest_ins > s->ins_at_once ||
        s->rest_rows < 1 || s->rest_rows > 6 || s->rest_columns < 1 || s->rest_columns > 6 || s->many_outs < 1 ||
        s->many_ins < 1 || s->many_rows < 1 || s->many_columns < 1) {
        tw_stop("the last tile has no size, or too large a one; that of an exact multiple is full");
    }
    if (s->streamed && !s->wide_out) {
        tw_stop("sums are taken in as 32 bits only");
    }
}

/* One input code of a tile; what lies past its last tile's rest is 0, whatever the padding's value is. */
static int32_t tw_input_code(const struct tw_shape *s, const uint32_t *w, const struct tw_tile *t, int row, int column, int channel)
{
    if (row >= t->in_rows || column >= t->in_columns) {
        return 0;
    }
    if ((t->upper && row < s->top) || (t->lower && row >= 8 - s->bottom) || (t->first && column < s->left) ||
        (t->last && column >= 8 - s->right)) {
        return s->padding;
    }
    const unsigned char code = *tw_near(w[1] + (t->row * 6u + (uint32_t)row) * w[7] +
                                        (t->column * 6u + (uint32_t)column) * w[6] + (uint32_t)channel);
    return s->is_signed ? (int32_t)(int8_t)code : (int32_t)code;
}

static int tw_bit(const unsigned char *word, int bit) { return word[bit >> 3] >> (bit & 7) & 1; }

/* The weights of one output channel and one block of input channels, offset added: [tap][channel]. */
static void tw_weights(const struct tw_shape *s, const uint32_t *w, int out, int block, int32_t (*weights)[32])
{
    const int apart = s->mode == TW_APART;
    const unsigned char *from = (const unsigned char *)(uintptr_t)w[0];
    uint32_t at = s->mode == TW_ONE ? (uint32_t)out * w[13] + (uint32_t)block * w[12]
                : apart ? (uint32_t)block * w[12] * (uint32_t)s->bits
                        : (uint32_t)out * w[13] + (uint32_t)block * w[12] * (uint32_t)s->bits;
    from = (w[23] >> 9 & 1u) != 0u ? (const unsigned char *)(uintptr_t)(TILEWRIGHT_NEUREKA_WEIGHTS + w[0]) + at
                                   : tw_near(w[0] + at);
    for (int tap = 0; tap < (s->mode == TW_ONE ? 1 : 9); tap++) {
        for (int channel = 0; channel < s->ins_at_once; channel++) {
            int32_t weight = 0;
            for (int bit = 0; bit < (s->mode == TW_ONE ? 8 : s->bits); bit++) {
                const int set = s->mode == TW_ONE ? tw_bit(from, (channel / 4) * 32 + bit * 4 + channel % 4)
                                                  : tw_bit(from + 32 * bit, tap * 28 + channel);
                weight |= set << bit;
            }
            weights[tap][channel] = weight + s->offset;
        }
    }
}

/* Sums of one output channel over one block of input channels. */
static void tw_products(const struct tw_shape *s, const struct tw_tile *t, const int32_t (*weights)[32],
                        int32_t (*inputs)[8][32], int own, int channels, uint32_t *sums)
{
    const int taps = s->mode == TW_ONE ? 1 : 3;
    for (int row = 0; row < t->rows; row++) {
        for (int column = 0; column < t->columns; column++) {
            uint32_t sum = 0;
            for (int tap = 0; tap < taps * taps; tap++) {
                const int32_t *const from = inputs[row + tap / taps][column + tap % taps];
                if (s->mode == TW_APART) {
                    sum += (uint32_t)(from[own] * weights[tap][own]);
                } else {
                    for (int channel = 0; channel < channels; channel++) {
                        sum += (uint32_t)(from[channel] * weights[tap][channel]);
                    }
                }
            }
            sums[row * 6 + column] += sum;
        }
    }
}

/* (sum * scale + bias) >> shift in 32 bits, then to 8 bits where that is asked for. */
static int32_t tw_normalised(const struct tw_shape *s, const uint32_t *w, uint32_t sum, int out)
{
    if (s->normalised) {
        const uint32_t scale = s->wide_scale ? (uint32_t)tw_word(w[3] + (uint32_t)out * 4u) : *tw_near(w[3] + (uint32_t)out);
        const uint32_t bias = s->biased ? (uint32_t)tw_word(w[5] + (uint32_t)out * 4u) : 0u;
        const int shift = s->own_shift ? *tw_near(w[4] + (uint32_t)out) & 31 : s->shift;
        const int32_t scaled = (int32_t)(sum * scale + bias);
        const int32_t low = s->clip_signed ? -128 : 0, high = s->clip_signed ? 127 : 255;
        sum = (uint32_t)(scaled >> shift);
        if (!s->wide_out) {
            return (int32_t)sum < low ? low : (int32_t)sum > high ? high : (int32_t)sum;
        }
    }
    return (int32_t)sum;
}

static void tw_results(const struct tw_shape *s, const uint32_t *w, const struct tw_tile *t, int out, const uint32_t *sums)
{
    for (int row = 0; row < t->rows; row++) {
        for (int column = 0; column < t->columns; column++) {
            const uint32_t bytes = s->wide_out ? 4u : 1u;
            const uint32_t at = w[2] + (t->row * 6u + (uint32_t)row) * w[11] + (t->column * 6u + (uint32_t)column) * w[10] +
                                (uint32_t)out * bytes;
            const uint32_t before = s->streamed ? (uint32_t)tw_word(at) : 0u;
            const uint32_t code = (uint32_t)tw_normalised(s, w, sums[row * 6 + column] + before, out);
            for (uint32_t byte = 0; byte < bytes; byte++) {
                *tw_near(at + byte) = (unsigned char)(code >> 8 * byte);
            }
        }
    }
}

static struct tw_tile tw_tile_of(const struct tw_shape *s, int row, int column)
{
    const int more = s->mode == TW_ONE ? 0 : 2;
    struct tw_tile t;
    t.row = (uint32_t)row;
    t.column = (uint32_t)column;
    t.upper = row == 0;
    t.lower = row == s->many_rows - 1;
    t.first = column == 0;
    t.last = column == s->many_columns - 1;
    t.rows = t.lower ? s->rest_rows : 6;
    t.columns = t.last ? s->rest_columns : 6;
    t.in_rows = t.lower ? s->rest_in_rows : 6 + more;
    t.in_columns = t.last ? s->rest_in_columns : 6 + more;
    return t;
}

/* All output channels of one tile that share a block of 32, or of 28 that stay apart. */
static void tw_compute_block(const struct tw_shape *s, const uint32_t *w, const struct tw_tile *t, int group)
{
    static int32_t inputs[8][8][32], weights[9][32];
    static uint32_t sums[32][36];
    const int outs = group == s->many_outs - 1 ? s->rest_outs : s->outs_at_once;
    for (int out = 0; out < 32; out++) {
        for (int at = 0; at < 36; at++) {
            sums[out][at] = 0;
        }
    }
    for (int block = 0; block < (s->mode == TW_APART ? 1 : s->many_ins); block++) {
        const int at = s->mode == TW_APART ? group : block;
        const int channels = at == s->many_ins - 1 ? s->rest_ins : s->ins_at_once;
        for (int row = 0; row < 8; row++) {
            for (int column = 0; column < 8; column++) {
                for (int channel = 0; channel < channels; channel++) {
                    inputs[row][column][channel] = tw_input_code(s, w, t, row, column, at * s->ins_at_once + channel);
                }
            }
        }
        for (int out = 0; out < outs; out++) {
            if (s->mode != TW_APART || out == 0) {
                tw_weights(s, w, group * s->outs_at_once + out, at, weights);
            }
            tw_products(s, t, (const int32_t(*)[32])weights, inputs, out, channels, sums[out]);
        }
    }
    for (int out = 0; out < outs; out++) {
        tw_results(s, w, t, group * s->outs_at_once + out, sums[out]);
    }
}

static void tw_compute(void)
{
    const uint32_t *const w = tw_job[tw_done & 1u];
    const struct tw_shape s = tw_shape_of(w);
    tw_check(&s, w);
    for (int row = 0; row < s.many_rows; row++) {
        for (int column = 0; column < s.many_columns; column++) {
            const struct tw_tile t = tw_tile_of(&s, row, column);
            for (int group = 0; group < s.many_outs; group++) {
                tw_compute_block(&s, w, &t, group);
            }
        }
    }
    tw_done++;
    tw_pending |= 1u << TW_NEUREKA_EVENT;
}

uint32_t tw_neureka_load(uint32_t place)
{
    if (place == TW_NEUREKA_ACQUIRE) {
        if (tw_acquired - tw_done > 1u) {
            if (tw_started == tw_done) {
                tw_stop("two jobs were acquired and none was started");
            }
            tw_compute();
            return 0xFFFFFFFFu;
        }
        return tw_acquired++ & 0xFFu;
    }
    if (place == TW_NEUREKA_STATUS) {
        uint32_t status = 0;
        for (uint32_t job = tw_done; job != tw_started; job++) {
            status |= (job & 1u) != 0u ? 0x100u : 1u;
        }
        return status;
    }
    tw_stop("a register that is not read");
    return 0;
}

void tw_neureka_store(uint32_t place, uint32_t value)
{
    const uint32_t word = (place - TW_NEUREKA_WORDS) / 4u;
    if (place >= TW_NEUREKA_WORDS && word < TW_NEUREKA_MANY && tw_started != tw_acquired) {
        tw_job[(tw_acquired - 1u) & 1u][word] = value;
        return;
    }
    if (place != TW_NEUREKA_START || value != 0u || tw_started == tw_acquired) {
        tw_stop("a register that may not be written, or a start without a job");
    }
    tw_started++;
#ifdef TW_NEUREKA_EARLY
    tw_compute();
#endif
}

void tw_event_mask(uint32_t set, uint32_t cleared) { tw_mask = (tw_mask | set) & ~cleared; }

/* Sleep until an event of the mask is pending; the sleeper gets it, and it is pending no longer. */
void tw_event_wait(void)
{
    if ((tw_pending & tw_mask) == 0u) {
        if ((tw_mask >> TW_NEUREKA_EVENT & 1u) == 0u || tw_started == tw_done) {
            tw_stop("a core sleeps and nothing will wake it");
        }
        tw_compute();
    }
    tw_pending &= ~tw_mask;
}

/* What a barrier of the cores asks: with the unit's event in the mask it would return before they have ended. */
void tw_event_barrier(void)
{
    if ((tw_mask >> TW_NEUREKA_EVENT & 1u) != 0u) {
        tw_stop("its event is in the mask at a barrier of the cores");
    }
}
