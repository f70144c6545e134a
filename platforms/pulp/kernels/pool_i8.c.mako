<%
(kh, kw), (sh, sw), (dh, dw) = k.kernel, k.strides, k.dilations
%>\
#ifdef TILEWRIGHT_XPULP
/* What the sums of four channels are made of: first codes, rows and columns of the window, bytes from column to column and
 * from the end of a row to the next one; lanes has a one in every byte in turn. */
typedef struct {
    const void *codes;
    int rows, columns, step, jump;
} ${f.name}_window;

static inline __attribute__((always_inline)) void ${f.name}_sums(const ${f.name}_window *k, int32_t *sums)
{
    __asm__ volatile(
${k.asm}
        : : [k] "m"(*k), [sums] "r"(sums)
        : "memory", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "t0", "t1", "t2", "t3", "t4", "t5", "t6");
}

#endif
/* Channels are shared among the cores, in fours where that is possible. */
static void ${f.name}(${f.parameters})
{
#ifdef TILEWRIGHT_XPULP
    if ((tile->channels & 3) == 0) {
        const unsigned quarter = (unsigned)tile->channels >> 2;
        const int fours = (int)quarter, last = tilewright_share(fours, core + 1, cores);
        const int row = tile->in_columns * tile->channels, step = ${f"{dw} * " if dw > 1 else ""}tile->channels;
        for (int pixel = 0; pixel < tile->rows * tile->columns; pixel++) {
            const int top = ${times('pixel / tile->columns', sh)}, left = ${times('pixel % tile->columns', sw)};
            for (int four = tilewright_share(fours, core, cores); four < last; four++) {
                const ${f.name}_window window = {
                    x + top * row + left * tile->channels + four * 4, ${kh}, ${kw}, step, ${f"{dh} * " if dh > 1 else ""}row - ${kw} * step,
                };
                int32_t sums[4] = {${", ".join([str(-k.zero_point * kh * kw)] * 4)}};
                ${f.name}_sums(&window, sums);
                for (int c = 0; c < 4; c++) {
                    const int32_t acc = sums[c];
                    int32_t code = ${k.form};
                    code = code < ${k.low} ? ${k.low} : code;
                    code = code > ${k.high} ? ${k.high} : code;
                    y[pixel * tile->channels + four * 4 + c] = (${k.y_type})code;
                }
            }
        }
        return;
    }
#endif
    const int end = tilewright_share(tile->channels, core + 1, cores);
    for (int pixel = 0; pixel < tile->rows * tile->columns; pixel++) {
        const int top = ${times('pixel / tile->columns', sh)};
        const int left = ${times('pixel % tile->columns', sw)};
        for (int c = tilewright_share(tile->channels, core, cores); c < end; c++) {
            int32_t acc = ${-k.zero_point * kh * kw};
            for (int kh = 0; kh < ${kh}; kh++) {
                for (int kw = 0; kw < ${kw}; kw++) {
                    acc += x[((top + ${times('kh', dh)}) * tile->in_columns + left + ${times('kw', dw)}) * tile->channels + c];
                }
            }
            int32_t code = ${k.form};
            code = code < ${k.low} ? ${k.low} : code;
            code = code > ${k.high} ? ${k.high} : code;
            y[pixel * tile->channels + c] = (${k.y_type})code;
        }
    }
}
