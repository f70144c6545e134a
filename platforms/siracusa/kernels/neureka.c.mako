<%
q, layer = k.coding, k.layer
one, apart = layer.mode == 2, layer.mode == 1
%>\
/* Rows and columns of sums for so many of results. */
#define ${f.name}_computed(results) ${"(results)" if layer.step == 1 else f"(((results) - 1) * {layer.step} + 1)"}

/* A job is some rows of sums, in sixes, times some output channels, all or ${layer.mode.outs}. */
static int ${f.name}_jobs(const tilewright_neureka_tile *tile)
{
    return (${f.name}_computed(tile->rows) + tile->job_rows - 1) / tile->job_rows * ((tile->channels + tile->job_channels - 1) / tile->job_channels);
}

/* Of job after job, the output channels first: its first row, rows, columns, first output channel, output channels. */
typedef struct {
    int row, rows, columns, first, outs;
} ${f.name}_part;

static ${f.name}_part ${f.name}_part_of(const tilewright_neureka_tile *tile, int job)
{
    const int groups = (tile->channels + tile->job_channels - 1) / tile->job_channels, line = job / groups;
    const int row = line * tile->job_rows, rows = ${f.name}_computed(tile->rows) - row, first = (job - line * groups) * tile->job_channels;
    const int outs = tile->channels - first;
    const ${f.name}_part part = {
        row, rows < tile->job_rows ? rows : tile->job_rows, ${f.name}_computed(tile->columns), first, outs < tile->job_channels ? outs : tile->job_channels,
    };
    return part;
}

/* What the cores are given of a job: sums and codes of its first output channel, numbers of the requantisation, rows of
 * codes, output channels. One is written while another one is computed and a third one read. */
typedef struct {
    const int32_t *sums;
    ${k.y_type} *codes;
    const int32_t *form;
    int rows, outs;
} ${f.name}_share;

/* The sums of a job, behind four shares: two jobs take turns. */
static int32_t *${f.name}_sums(const tilewright_neureka_tile *tile, void *scratch, int job)
{
    const ${f.name}_part largest = ${f.name}_part_of(tile, 0);
    return (int32_t *)(void *)((${f.name}_share *)scratch + 4) + (job & 1) * largest.rows * largest.columns * largest.outs;
}

static void ${f.name}_write(${f.job_parameters})
{
    const ${f.name}_part part = ${f.name}_part_of(tile, job);
    const int pixel = ${"tile->channels" if apart else k.depth}; /* bytes */
    const uint32_t outs = ((uint32_t)part.outs + ${layer.mode.outs - 1}u) / ${layer.mode.outs}u, last_out = (uint32_t)part.outs - (outs - 1u) * ${layer.mode.outs}u;
    const uint32_t last_row = (uint32_t)(part.rows - 1) % 6u + 1u, last_column = (uint32_t)(part.columns - 1) % 6u + 1u;
% if not one:
    const int top = tile->top > part.row ? tile->top - part.row : 0, left = tile->left;
    const int below = part.row - tile->top + part.rows + 2 - tile->in_rows, over = part.columns + 2 - left - tile->in_columns;
    /* Padding behind is counted from the end of a full square of results, whatever the size of the last one. */
    const uint32_t bottom = below > 0 ? (uint32_t)below + 6u - last_row : 0, right = over > 0 ? (uint32_t)over + 6u - last_column : 0;
% endif
    uint32_t words[24];
    words[0] = (uint32_t)(uintptr_t)w + (uint32_t)(${f"(tile->first + part.first) / 28 * {k.weight_words[0]}" if apart else f"(tile->first + part.first) * {k.weight_words[0]}"}) - TILEWRIGHT_NEUREKA_WEIGHTS;
    words[1] = (uint32_t)(uintptr_t)${k.source} + (uint32_t)(((part.row${f" * {layer.stride}" if one and layer.stride > 1 else ""} - tile->top) * tile->in_columns - tile->left) * pixel${" + part.first" if apart else ""});
    words[2] = (uint32_t)(uintptr_t)${f.name}_sums(tile, scratch, job);
    words[3] = (uint32_t)(uintptr_t)(scale + part.first); /* all are 1 */
    words[4] = 0; /* no shifts */
    words[5] = (uint32_t)(uintptr_t)(bias + part.first);
    words[6] = (uint32_t)(pixel${f" * {layer.stride}" if one and layer.stride > 1 else ""});
    words[7] = (uint32_t)(tile->in_columns * pixel${f" * {layer.stride}" if one and layer.stride > 1 else ""});
    words[8] = 0;
    words[9] = 32;
    words[10] = (uint32_t)part.outs * 4u;
    words[11] = (uint32_t)(part.outs * part.columns) * 4u;
    words[12] = 32;
    words[13] = ${k.weight_words[1]};
    words[14] = 0;
    words[15] = last_out << 16 | ${"last_out" if apart else (k.depth - 1) % layer.mode.ins + 1};
    words[16] = last_row << 16 | last_column;
% if one:
    words[17] = words[16];
% else:
    words[17] = (last_row + 2) << 16 | (last_column + 2); /* padding counted: what is left out is zero, not a zero code */
% endif
    words[18] = outs << 16 | ${"outs" if apart else -(-k.depth // layer.mode.ins)};
    words[19] = ((uint32_t)part.rows + 5u) / 6u << 16 | ((uint32_t)part.columns + 5u) / 6u;
% if one:
    words[20] = 0; /* no padding */
% else:
    words[20] = (uint32_t)top << 28 | right << 24 | bottom << 20 | (uint32_t)left << 16 | ${hex(k.zero)};
% endif
    words[21] = (uint32_t)-${1 << layer.bits - 1}; /* of the stored weights */
    words[22] = 0;
    words[23] = ${hex(k.mode)};
    tilewright_neureka_write(words);
    const ${f.name}_share share = {
        ${f.name}_sums(tile, scratch, job),
        y + part.row / ${layer.step} * tile->columns * tile->channels + part.first,
        form + part.first * ${k.words},
        (part.rows + ${layer.step - 1}) / ${layer.step},
        part.outs,
    };
    ((${f.name}_share *)scratch)[job & 3] = share;
}

#ifdef TILEWRIGHT_XPULP
/* Codes of four output channels of some pixels. */
static inline __attribute__((always_inline)) void ${f.name}_fours(const int32_t *sums, ${k.y_type} *codes, int pixels,
                                                                  int sum_step, int code_step, const int32_t *form)
{
    register const int32_t *a0 __asm__("a0") = sums;
    register ${k.y_type} *a1 __asm__("a1") = codes;
    register int a2 __asm__("a2") = pixels;
    register int a3 __asm__("a3") = sum_step;
    register int a4 __asm__("a4") = code_step;
    register const int32_t *a5 __asm__("a5") = form;
    __asm__ volatile(
${k.text}
        : "+r"(a0), "+r"(a1), "+r"(a5)
        : "r"(a2), "r"(a3), "r"(a4)
        : "memory", "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a6", "a7",
          "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11");
}

#endif
/* Codes of up to four output channels of some pixels; the steps are in bytes. */
static void ${f.name}_codes(const int32_t *sums, ${k.y_type} *codes, int pixels, int sum_step, int code_step,
                            const int32_t *form, int channels)
{
#ifdef TILEWRIGHT_XPULP
    if (channels == 4) {
        ${f.name}_fours(sums, codes, pixels, sum_step, code_step, form);
        return;
    }
#endif
    for (int pixel = 0; pixel < pixels; pixel++) {
        const int32_t *own = form;
        for (int c = 0; c < channels; c++) {
            int32_t code = ${q.c("sums[c]", "own")};
            code = code < ${q.form.low} ? ${q.form.low} : code;
            code = code > ${q.form.high} ? ${q.form.high} : code;
            codes[c] = (${k.y_type})code;
            own += ${k.words};
        }
        sums = (const int32_t *)(const void *)((const unsigned char *)sums + sum_step);
        codes += code_step;
    }
}

/* Codes of the sums of a job. Its work is eight parts for each four output channels: a part is an eighth of the pixels. */
static void ${f.name}(${f.parameters})
{
    const ${f.name}_share *const share = (const ${f.name}_share *)scratch + (job & 3);
    const int outs = share->outs, groups = (outs + 3) >> 2, pixels = share->rows * tile->columns;
    const int end = tilewright_share(groups * 8, core + 1, cores);
    int at = tilewright_share(groups * 8, core, cores);
    while (at < end) {
        const int group = at >> 3, c = group * 4, stop = end < group * 8 + 8 ? end : group * 8 + 8;
        const int channels = outs - c < 4 ? outs - c : 4;
        const int32_t *const numbers = share->form + c * ${k.words};
        const int last = pixels * (stop - group * 8) >> 3;
        int pixel = pixels * (at & 7) >> 3;
        at = stop;
% if layer.step > 1:
        const int columns = ${f.name}_computed(tile->columns);
        int row = pixel / tile->columns, column = pixel - row * tile->columns;
        while (pixel < last) {
            const int count = last - pixel < tile->columns - column ? last - pixel : tile->columns - column;
            ${f.name}_codes(share->sums + (row * ${layer.step} * columns + column * ${layer.step}) * outs + c,
                            share->codes + pixel * tile->channels + c, count, outs * ${4 * layer.step}, tile->channels, numbers, channels);
            pixel += count;
            row++;
            column = 0;
        }
% else:
        if (pixel < last) {
            ${f.name}_codes(share->sums + pixel * outs + c, share->codes + pixel * tile->channels + c, last - pixel, outs * 4,
                            tile->channels, numbers, channels);
        }
% endif
    }
    (void)${k.source};
    (void)y;
    (void)w;
    (void)scale;
    (void)bias;
    (void)form;
}
