/* One row times eight columns at a time, inputs read as they are: 32 instructions for 32 multiply-accumulates. Every
 * instruction is four bytes long, so that the sum may enter its block of sixteen inputs in the middle. */
#define TILEWRIGHT_COLUMNS(first, second, third, fourth) \
    "ldrd %[a], %[b], [%[w]], #8\n\t" \
    "sxtb16 %[e], %[a]\n\tsmlad %[" first "], %[x], %[e], %[" first "]\n\t" \
    "smlad %[" second "], %[x], %[a], %[" second "]\n\t" \
    "sxtb16 %[e], %[b]\n\tsmlad %[" third "], %[x], %[e], %[" third "]\n\t" \
    "smlad %[" fourth "], %[x], %[b], %[" fourth "]\n\t"
#define TILEWRIGHT_EIGHT TILEWRIGHT_COLUMNS("s0", "s1", "s2", "s3") TILEWRIGHT_COLUMNS("s4", "s5", "s6", "s7")
#define TILEWRIGHT_FOUR_INPUTS \
    "ldr.w %[x], [%[at]]\n\tsxtb16.w %[x], %[x]\n\t" TILEWRIGHT_EIGHT \
    "ldr %[x], [%[at]], #4\n\tsxtb16 %[x], %[x], ror #8\n\t" TILEWRIGHT_EIGHT

TILEWRIGHT_INTO void tilewright_row(
    const int form, const int8_t *restrict x, const uint32_t *restrict w, const int32_t *restrict table,
    int8_t *restrict y, int words, int columns, const int32_t *restrict codes)
{
    int8_t *const last = y + columns;
    const int8_t *const end = x + words * 4;
    const int skip = (-words & 3) * 128;
    do {
        int32_t s[8];
        const int32_t *starts = table;
        TILEWRIGHT_UNROLL
        for (int o = 0; o < 8; o++) {
            s[o] = form & TILEWRIGHT_UNIFORM ? starts[o] : starts[o / 2 * 4 + o % 2];
        }
        const int8_t *at = x;
        uint32_t a, b, e, v;
        __asm__ volatile(
            "ldr %[e], %[skip]\n\tadd pc, %[e]\n\tnop\n\t"
            "1:\n\t" TILEWRIGHT_FOUR_TIMES(TILEWRIGHT_FOUR_INPUTS)
            "ldr %[e], %[end]\n\tcmp %[at], %[e]\n\tbne 1b\n\t"
            : [s0] "+r"(s[0]), [s1] "+r"(s[1]), [s2] "+r"(s[2]), [s3] "+r"(s[3]), [s4] "+r"(s[4]), [s5] "+r"(s[5]),
              [s6] "+r"(s[6]), [s7] "+r"(s[7]), [at] "+r"(at), [w] "+r"(w), [a] "=&r"(a), [b] "=&r"(b), [e] "=&r"(e),
              [x] "=&r"(v)
            : [skip] "m"(skip), [end] "m"(end)
            : "cc", "memory");
        const int32_t addend = codes[0];
        const int32_t shift = codes[1];
        TILEWRIGHT_UNROLL
        for (int o = 7; o >= 0; o--) {
            const int32_t sum = o & 1 ? (int32_t)((uint32_t)s[o] - (uint32_t)s[o - 1]) >> 8 : s[o];
            const int32_t multiplier = form & TILEWRIGHT_UNIFORM ? codes[4] : table[o / 2 * 4 + 2 + o % 2];
            y[o] = (int8_t)tilewright_limit(form, tilewright_scale(sum, multiplier, addend) >> shift, codes);
        }
        table += form & TILEWRIGHT_UNIFORM ? 8 : 16;
        y += 8;
    } while (y != last);
}

#define TILEWRIGHT_ROW(name, form) \
    TILEWRIGHT_ONCE void tilewright_row##name(const int8_t *restrict x, const uint32_t *restrict w, \
        const int32_t *restrict table, int8_t *restrict y, int words, int columns, const int32_t *restrict codes) \
    { \
        tilewright_row(form, x, w, table, y, words, columns, codes); \
    }

TILEWRIGHT_ROW(_paired, TILEWRIGHT_PAIRED)
TILEWRIGHT_ROW(_paired_uniform, TILEWRIGHT_PAIRED | TILEWRIGHT_UNIFORM)
TILEWRIGHT_ROW(_paired_limited, TILEWRIGHT_PAIRED | TILEWRIGHT_LIMITED)
TILEWRIGHT_MATRIX(1, _paired_uniform, TILEWRIGHT_PAIRED | TILEWRIGHT_UNIFORM)
