/* One row times eight columns at a time, inputs read as they are: 32 instructions for 32 multiply-accumulates. Every
 * instruction is four bytes long, so that the sum may enter its block of sixteen inputs in the middle. It brings
 * tilewright_row_paired, tilewright_row_paired_twice, tilewright_row_paired_uniform, tilewright_row_paired_uniform_twice,
 * tilewright_matrix1_paired_uniform and tilewright_matrix1_paired_uniform_twice. */
#if defined(TILEWRIGHT_IN_C)
TILEWRIGHT_INTO void tilewright_row(
    const int form, const int8_t *x, const uint32_t *w, const int32_t *table,
    int8_t *y, int words, int columns, const int32_t *codes)
{
    const int uniform = form & TILEWRIGHT_UNIFORM;
    const int pair_words = uniform != 0 ? 2 : (form & TILEWRIGHT_TWICE) != 0 ? 6 : 4;
    for (int column = 0; column < columns; column += 8) {
        int32_t s[8];
        for (int o = 0; o < 8; o++) {
            s[o] = table[o / 2 * pair_words + o % 2];
        }
        for (int i = 0; i < 2 * words; i++) {
            const uint32_t inputs = tilewright_load(x + i / 2 * 4);
            const uint32_t v = i % 2 != 0 ? tilewright_odd(inputs) : tilewright_even(inputs);
            for (int o = 0; o < 8; o += 2) {
                s[o] = tilewright_smlad(v, tilewright_even(*w), s[o]);
                s[o + 1] = tilewright_smlad(v, *w++, s[o + 1]);
            }
        }
        for (int o = 0; o < 8; o++) {
            const uint32_t difference = (uint32_t)s[o] - (uint32_t)s[o / 2 * 2];
            const int32_t sum = o % 2 != 0 ? tilewright_floor((int32_t)difference, 8) : s[o];
            const int32_t *const own = table + o / 2 * pair_words + 2 + o % 2 * (pair_words / 2 - 1);
            const int32_t multiplier = uniform != 0 ? codes[4] : own[0];
            const int32_t code = (form & TILEWRIGHT_TWICE) != 0
                ? tilewright_twice(sum * 2, multiplier, uniform != 0 ? codes[1] : own[1], codes[0])
                : tilewright_shifted(tilewright_scale(sum, multiplier, codes[0]), codes[1]);
            y[column + o] = (int8_t)tilewright_saturate(code);
        }
        table += 4 * pair_words;
    }
}

#define TILEWRIGHT_ROW(name, form) \
    TILEWRIGHT_ONCE void tilewright_row##name(const int8_t *x, const uint32_t *w, \
        const int32_t *table, int8_t *y, int words, int columns, const int32_t *codes) \
    { \
        tilewright_row(form, x, w, table, y, words, columns, codes); \
    }
TILEWRIGHT_ROW(_paired, TILEWRIGHT_PAIRED)
TILEWRIGHT_ROW(_paired_twice, TILEWRIGHT_PAIRED | TILEWRIGHT_TWICE)
TILEWRIGHT_ROW(_paired_uniform, TILEWRIGHT_UNIFORM)
TILEWRIGHT_ROW(_paired_uniform_twice, TILEWRIGHT_UNIFORM | TILEWRIGHT_TWICE)
#else
#define TILEWRIGHT_COLUMNS(first, second, third, fourth) \
    "ldrd %[a], %[b], [%[w]], #8\n\t" \
    "sxtb16.w %[e], %[a]\n\tsmlad %[" first "], %[v], %[e], %[" first "]\n\t" \
    "smlad %[" second "], %[v], %[a], %[" second "]\n\t" \
    "sxtb16.w %[e], %[b]\n\tsmlad %[" third "], %[v], %[e], %[" third "]\n\t" \
    "smlad %[" fourth "], %[v], %[b], %[" fourth "]\n\t"
#define TILEWRIGHT_EIGHT TILEWRIGHT_COLUMNS("s0", "s1", "s2", "s3") TILEWRIGHT_COLUMNS("s4", "s5", "s6", "s7")
#define TILEWRIGHT_FOUR_INPUTS \
    "ldr.w %[v], [%[x]]\n\tsxtb16.w %[v], %[v]\n\t" TILEWRIGHT_EIGHT \
    "ldr %[v], [%[x]], #4\n\tsxtb16 %[v], %[v], ror #8\n\t" TILEWRIGHT_EIGHT

/* The table holds starts and multipliers of pairs of columns, or, where one multiplier serves all, starts alone. */
typedef struct {
    const int8_t *x;
    const int8_t *end;
    int32_t skip;
    int32_t multiplier;
    const int32_t *table;
    int8_t *y;
    const int8_t *last;
    int32_t addend;
    int32_t shift;
} tilewright_row_frame;

#define TILEWRIGHT_EIGHT_STARTS(second, third, fourth) \
    "ldrd %[s0], %[s1], [%[e]]\n\tldrd %[s2], %[s3], [%[e], #" #second "]\n\t" \
    "ldrd %[s4], %[s5], [%[e], #" #third "]\n\tldrd %[s6], %[s7], [%[e], #" #fourth "]\n\t"
#define TILEWRIGHT_PAIR_TO_CODES(first, second, multiplier, other, at, after) \
    multiplier "sub %[" second "], %[" second "], %[" first "]\n\tsmmla %[" first "], %[" first "], %[v], %[a]\n\t" \
    other "asr %[" second "], %[" second "], #8\n\tsmmla %[" second "], %[" second "], %[v], %[a]\n\t" \
    "asr %[" first "], %[" first "], %[b]\n\tssat %[" first "], #8, %[" first "]\n\t" \
    "asr %[" second "], %[" second "], %[b]\n\tssat %[" second "], #8, %[" second "]\n\t" \
    "strb %[" first "], [%[e], #" at "]\n\tstrb %[" second "], [%[e], #" after "]\n\t"
#define TILEWRIGHT_MULTIPLIER(at) "ldr %[v], [%[x], #" #at "]\n\t"
#define TILEWRIGHT_STARTS_OWN TILEWRIGHT_EIGHT_STARTS(16, 32, 48)
#define TILEWRIGHT_STARTS_ONE TILEWRIGHT_EIGHT_STARTS(8, 16, 24)
#define TILEWRIGHT_CODES_OWN \
    "ldr %[x], %[table]\n\tadd %[v], %[x], #64\n\tstr %[v], %[table]\n\t" \
    TILEWRIGHT_PAIR_TO_CODES("s0", "s1", TILEWRIGHT_MULTIPLIER(8), TILEWRIGHT_MULTIPLIER(12), "0", "1") \
    TILEWRIGHT_PAIR_TO_CODES("s2", "s3", TILEWRIGHT_MULTIPLIER(24), TILEWRIGHT_MULTIPLIER(28), "2", "3") \
    TILEWRIGHT_PAIR_TO_CODES("s4", "s5", TILEWRIGHT_MULTIPLIER(40), TILEWRIGHT_MULTIPLIER(44), "4", "5") \
    TILEWRIGHT_PAIR_TO_CODES("s6", "s7", TILEWRIGHT_MULTIPLIER(56), TILEWRIGHT_MULTIPLIER(60), "6", "7")
#define TILEWRIGHT_CODES_ONE \
    "ldr %[x], %[table]\n\tadd %[x], %[x], #32\n\tstr %[x], %[table]\n\tldr %[v], %[multiplier]\n\t" \
    TILEWRIGHT_PAIR_TO_CODES("s0", "s1", "", "", "0", "1") TILEWRIGHT_PAIR_TO_CODES("s2", "s3", "", "", "2", "3") \
    TILEWRIGHT_PAIR_TO_CODES("s4", "s5", "", "", "4", "5") TILEWRIGHT_PAIR_TO_CODES("s6", "s7", "", "", "6", "7")
/* See TILEWRIGHT_ONE_TWICE; `a` is the zero point, `b` the shift. */
#define TILEWRIGHT_COLUMN_TWICE(sum, at) \
    "smmulr %[" #sum "], %[" #sum "], %[v]\n\tadd %[" #sum "], %[" #sum "], %[" #sum "], asr #31\n\t" \
    "asrs %[" #sum "], %[" #sum "], %[b]\n\tadc %[" #sum "], %[" #sum "], %[a]\n\t" \
    "ssat %[" #sum "], #8, %[" #sum "]\n\tstrb %[" #sum "], [%[e], #" #at "]\n\t"
#define TILEWRIGHT_FIRST_TWICE(first, second, at) \
    "sub %[" #second "], %[" #second "], %[" #first "]\n\tlsl %[" #first "], %[" #first "], #1\n\t" \
    TILEWRIGHT_COLUMN_TWICE(first, at)
#define TILEWRIGHT_SECOND_TWICE(second, at) \
    "asr %[" #second "], %[" #second "], #7\n\t" TILEWRIGHT_COLUMN_TWICE(second, at)
#define TILEWRIGHT_PAIR_TWICE(first, second, at, after) \
    TILEWRIGHT_FIRST_TWICE(first, second, at) TILEWRIGHT_SECOND_TWICE(second, after)
#define TILEWRIGHT_MULTIPLIER_AND_SHIFT(at) "ldrd %[v], %[b], [%[x], #" #at "]\n\t"
#define TILEWRIGHT_STARTS_OWN_TWICE TILEWRIGHT_EIGHT_STARTS(24, 48, 72)
#define TILEWRIGHT_CODES_OWN_TWICE \
    "ldr %[x], %[table]\n\tadd %[v], %[x], #96\n\tstr %[v], %[table]\n\t" \
    TILEWRIGHT_MULTIPLIER_AND_SHIFT(8) TILEWRIGHT_FIRST_TWICE(s0, s1, 0) \
    TILEWRIGHT_MULTIPLIER_AND_SHIFT(16) TILEWRIGHT_SECOND_TWICE(s1, 1) \
    TILEWRIGHT_MULTIPLIER_AND_SHIFT(32) TILEWRIGHT_FIRST_TWICE(s2, s3, 2) \
    TILEWRIGHT_MULTIPLIER_AND_SHIFT(40) TILEWRIGHT_SECOND_TWICE(s3, 3) \
    TILEWRIGHT_MULTIPLIER_AND_SHIFT(56) TILEWRIGHT_FIRST_TWICE(s4, s5, 4) \
    TILEWRIGHT_MULTIPLIER_AND_SHIFT(64) TILEWRIGHT_SECOND_TWICE(s5, 5) \
    TILEWRIGHT_MULTIPLIER_AND_SHIFT(80) TILEWRIGHT_FIRST_TWICE(s6, s7, 6) \
    TILEWRIGHT_MULTIPLIER_AND_SHIFT(88) TILEWRIGHT_SECOND_TWICE(s7, 7)
#define TILEWRIGHT_STARTS_ONE_TWICE TILEWRIGHT_STARTS_ONE
#define TILEWRIGHT_CODES_ONE_TWICE \
    "ldr %[x], %[table]\n\tadd %[x], %[x], #32\n\tstr %[x], %[table]\n\tldr %[v], %[multiplier]\n\t" \
    TILEWRIGHT_PAIR_TWICE(s0, s1, 0, 1) TILEWRIGHT_PAIR_TWICE(s2, s3, 2, 3) \
    TILEWRIGHT_PAIR_TWICE(s4, s5, 4, 5) TILEWRIGHT_PAIR_TWICE(s6, s7, 6, 7)

#define TILEWRIGHT_ROW(name, multipliers) \
    TILEWRIGHT_ONCE void tilewright_row##name(const int8_t *x, const uint32_t *w, \
        const int32_t *table, int8_t *y, int words, int columns, const int32_t *codes) \
    { \
        tilewright_row_frame f = {x, x + words * 4, (-words & 3) * 128, codes[4], table, y, y + columns, codes[0], \
            codes[1]}; \
        uint32_t s0, s1, s2, s3, s4, s5, s6, s7, at, a, b, e, v; \
        __asm__ volatile( \
            "2:\n\tldr %[e], %[table]\n\t" TILEWRIGHT_STARTS_##multipliers "ldr %[x], %[from]\n\t" \
            "ldr %[e], %[skip]\n\tadd pc, %[e]\n\tnop\n\t" \
            "1:\n\t" TILEWRIGHT_FOUR_TIMES TILEWRIGHT_FOUR_INPUTS TILEWRIGHT_END \
            "ldr %[e], %[end]\n\tcmp %[x], %[e]\n\tbne.w 1b\n\t" \
            "ldrd %[a], %[b], %[addend]\n\tldr %[e], %[y]\n\t" TILEWRIGHT_CODES_##multipliers \
            "add %[e], %[e], #8\n\tldr %[v], %[last]\n\tstr %[e], %[y]\n\tcmp %[e], %[v]\n\tbne.w 2b\n\t" \
            : [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3), [s4] "=&r"(s4), [s5] "=&r"(s5), \
              [s6] "=&r"(s6), [s7] "=&r"(s7), [x] "=&r"(at), [a] "=&r"(a), [b] "=&r"(b), [e] "=&r"(e), [v] "=&r"(v), \
              [w] "+r"(w), [table] "+m"(f.table), [y] "+m"(f.y) \
            : [from] "m"(f.x), [end] "m"(f.end), [skip] "m"(f.skip), [last] "m"(f.last), [addend] "m"(f.addend), \
              "m"(f.shift), [multiplier] "m"(f.multiplier) \
            : "cc", "memory"); \
    }

TILEWRIGHT_ROW(_paired, OWN)
TILEWRIGHT_ROW(_paired_twice, OWN_TWICE)
TILEWRIGHT_ROW(_paired_uniform, ONE)
TILEWRIGHT_ROW(_paired_uniform_twice, ONE_TWICE)
#endif
TILEWRIGHT_MATRIX(1, _paired_uniform, TILEWRIGHT_PAIRED | TILEWRIGHT_UNIFORM)
TILEWRIGHT_MATRIX(1, _paired_uniform_twice, TILEWRIGHT_PAIRED | TILEWRIGHT_UNIFORM | TILEWRIGHT_TWICE)
