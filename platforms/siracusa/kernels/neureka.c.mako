<%
q, layer = k.coding, k.layer
one, apart = layer.mode == 2, layer.mode == 1
%>\
static int ${f.name}_jobs(const tilewright_neureka_tile *tile) { return tile->jobs; }

static void ${f.name}_write(${f.job_parameters})
{
    static const tilewright_neureka_layer layer = {
        ${int(apart)}, ${1 if one else 3}, ${layer.mode.outs}, ${layer.mode.ins}, ${layer.ins}, ${layer.stride if one else 1}, ${layer.row_step}, ${layer.column_step}, ${k.weight_bytes}, ${1 << layer.bits - 1}, ${hex(0 if one else k.zero)}, ${hex(k.mode)},
    };
    const tilewright_neureka_operands operands = {${k.source}, y, w, scale, bias, form, scratch, ${k.words}};
    tilewright_neureka_job(&layer, tile, job, &operands);
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
/* Codes of some output channels of some pixels; the steps are in bytes. */
static void ${f.name}_codes(const int32_t *sums, ${k.y_type} *codes, int pixels, int sum_step, int code_step,
                            const int32_t *form, int channels)
{
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
    const tilewright_neureka_share *const share = (const tilewright_neureka_share *)scratch + tile->shares + (job & 3);
    const int outs = share->outs, pixels = share->pixels, parts = ((outs + 3) >> 2) * 8;
    const int end = tilewright_share(parts, core + 1, cores);
    int at = tilewright_share(parts, core, cores);
    while (at < end) {
        const int group = at >> 3, c = group * 4, stop = tilewright_neureka_least(end, group * 8 + 8);
        const int channels = tilewright_neureka_least(outs - c, 4), last = pixels * (stop - group * 8) >> 3;
        const int32_t *const numbers = share->form + c * ${k.words};
        int pixel = pixels * (at & 7) >> 3;
        at = stop;
% if layer.row_step > 1:
        const int columns = tilewright_neureka_computed(tile->columns, ${layer.column_step});
        int row = pixel / tile->columns, column = pixel - row * tile->columns;
% endif
        while (pixel < last) {
% if layer.row_step > 1:
            const int count = tilewright_neureka_least(last - pixel, tile->columns - column);
            const int32_t *const sums = share->sums + (row * ${layer.row_step} * columns + column * ${layer.column_step}) * outs + c;
            row++;
            column = 0;
% else:
            const int count = last - pixel;
            const int32_t *const sums = share->sums + pixel * outs + c;
% endif
            ${k.y_type} *const codes = (${k.y_type} *)share->codes + pixel * tile->channels + c;
            pixel += count;
#ifdef TILEWRIGHT_XPULP
            if (channels == 4) {
                ${f.name}_fours(sums, codes, count, outs * ${4 * layer.column_step}, tile->channels, numbers);
                continue;
            }
#endif
            ${f.name}_codes(sums, codes, count, outs * ${4 * layer.column_step}, tile->channels, numbers, channels);
        }
    }
    (void)${k.source};
    (void)y;
    (void)w;
    (void)scale;
    (void)bias;
    (void)form;
}
