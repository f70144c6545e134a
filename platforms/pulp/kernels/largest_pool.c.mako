<%
(kh, kw), (sh, sw), (dh, dw) = k.kernel, k.strides, k.dilations
%>\
#ifdef TILEWRIGHT_XPULP
% for words in (1, 2):
/* The largest codes of a window, ${"a word" if words == 1 else "two words"} of channels. */
static inline __attribute__((always_inline)) void ${f.name}_${words}(const ${k.type} *from, int window_rows, int window_columns, int next, int down, ${k.type} *to)
{
    register const ${k.type} *at __asm__("a0") = from;
    register int rows __asm__("a1") = window_rows;
    register int columns __asm__("a2") = window_columns;
    register int step __asm__("a3") = next;
    register int jump __asm__("a4") = down;
    register uint32_t first __asm__("t0");
% if words == 2:
    register uint32_t second __asm__("t1");
% endif
    __asm__ volatile(
${k.one if words == 1 else k.two}
        : "+r"(at), "=r"(first)${', "=r"(second)' if words == 2 else ""} : "r"(rows), "r"(columns), "r"(step), "r"(jump) : "memory", "t4", "t5");
    __asm__ volatile("sw %1, 0(%0)" : : "r"(to), "r"(first) : "memory"); /* at any address */
% if words == 2:
    __asm__ volatile("sw %1, 4(%0)" : : "r"(to), "r"(second) : "memory");
% endif
}

% endfor
#endif
/* Pixels are shared among the cores; of padding nothing is read. */
static void ${f.name}(${f.parameters})
{
    const int channels = tile->channels, end = tilewright_share(tile->rows * tile->columns, core + 1, cores);
    for (int pixel = tilewright_share(tile->rows * tile->columns, core, cores); pixel < end; pixel++) {
        const int top = ${times("pixel / tile->columns", sh)} - tile->top, left = ${times("pixel % tile->columns", sw)} - tile->left;
        const int skipped = top < 0 ? ${f"({dh - 1} - top) / {dh}" if dh > 1 else "-top"} : 0, beside = left < 0 ? ${f"({dw - 1} - left) / {dw}" if dw > 1 else "-left"} : 0;
        const int down = ${f"(tile->in_rows - 1 - top) / {dh} + 1" if dh > 1 else "tile->in_rows - top"}, right = ${f"(tile->in_columns - 1 - left) / {dw} + 1" if dw > 1 else "tile->in_columns - left"};
        const int rows = (down < ${kh} ? down : ${kh}) - skipped, columns = (right < ${kw} ? right : ${kw}) - beside;
        const ${k.type} *const from = x + ((top + ${times("skipped", dh)}) * tile->in_columns + left + ${times("beside", dw)}) * channels;
        ${k.type} *const to = y + pixel * channels;
#ifdef TILEWRIGHT_XPULP
        if (channels >= ${k.codes}) {
            const int step = ${times("channels", dw * 4 // k.codes)}, jump = ${times("tile->in_columns * channels", dh * 4 // k.codes)} - columns * step;
            int c = 0;
            for (; c + ${2 * k.codes} <= channels; c += ${2 * k.codes}) {
                ${f.name}_2(from + c, rows, columns, step, jump, to + c);
            }
            for (; c < channels; c += ${k.codes}) {
                const int at = c < channels - ${k.codes} ? c : channels - ${k.codes}; /* the last ones again with those before */
                ${f.name}_1(from + at, rows, columns, step, jump, to + at);
            }
            continue;
        }
#endif
        for (int c = 0; c < channels; c++) {
            ${k.type} most = from[c];
            for (int i = 0; i < rows; i++) {
                for (int j = 0; j < columns; j++) {
                    const ${k.type} code = from[(${times("i", dh)} * tile->in_columns + ${times("j", dw)}) * channels + c];
                    most = code > most ? code : most;
                }
            }
            to[c] = most;
        }
    }
}
