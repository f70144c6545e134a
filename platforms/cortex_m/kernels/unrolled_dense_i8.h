/* One row of inputs, read as they are, times one to four columns, unrolled for one layer. The weights are one stream of
 * words of 16-bit halves, per block of columns: a start for each, weights of all columns per pair of inputs, a
 * multiplier for each. 13 instructions for 16 multiply-accumulates with four columns. */
typedef struct {
    const int8_t *x;
    const int8_t *last;
    int32_t addend;
} tilewright_columns_frame;

#if defined(TILEWRIGHT_IN_C)
TILEWRIGHT_INTO const uint32_t *tilewright_columns(
    const int columns, const int is_signed, const int is_signed_result, const int inputs, const int shift,
    const uint32_t *w, int8_t *y, const tilewright_columns_frame *f)
{
    for (; y != f->last; y += columns) {
        uint32_t x[2];
        int32_t s[4];
        for (int o = 0; o < columns; o++) {
            s[o] = (int32_t)*w++;
        }
        for (int i = 0; i < (inputs + 1) / 2; i++) {
            const int whole = inputs / 4 * 2;
            const int last_three = inputs % 4 == 3 && inputs > 3;
            if (i < whole || last_three) {
                const uint32_t v = tilewright_load(f->x + (i < whole ? i / 2 * 4 : inputs - 4));
                x[0] = is_signed ? tilewright_even(v) : tilewright_even_unsigned(v);
                x[1] = is_signed ? tilewright_odd(v) : tilewright_odd_unsigned(v);
            } else {
                x[0] = tilewright_input(is_signed, f->x + 2 * i);
                if (2 * i + 1 < inputs) {
                    x[0] = tilewright_bottoms(x[0], tilewright_input(is_signed, f->x + 2 * i + 1));
                }
                x[1] = x[0];
            }
            for (int o = 0; o < columns; o++) {
                s[o] = tilewright_smlad(x[i % 2], *w++, s[o]);
            }
        }
        for (int o = 0; o < columns; o++) {
            const int32_t code = tilewright_scale(s[o], (int32_t)*w++, f->addend) >> shift;
            y[o] = (int8_t)(is_signed_result ? tilewright_saturate(code) : tilewright_saturate_unsigned(code));
        }
    }
    return w;
}
#define TILEWRIGHT_COLUMNS_OF(number, in, x_signed, out, y_signed) \
    TILEWRIGHT_INTO const uint32_t *tilewright_columns##number##in##out( \
        const int inputs, const int shift, const uint32_t *w, int8_t *y, const tilewright_columns_frame *f) \
    { \
        return tilewright_columns(number, x_signed, y_signed, inputs, shift, w, y, f); \
    }
#define TILEWRIGHT_COLUMNS_EACH(number) \
    TILEWRIGHT_COLUMNS_OF(number, , 1, , 1) \
    TILEWRIGHT_COLUMNS_OF(number, _unsigned, 0, , 1) \
    TILEWRIGHT_COLUMNS_OF(number, , 1, _to_unsigned, 0) \
    TILEWRIGHT_COLUMNS_OF(number, _unsigned, 0, _to_unsigned, 0)
#else
#define TILEWRIGHT_GROUPS_IN_A_ROW 16
#define TILEWRIGHT_LOAD_SUMS1 "ldr r0, [%[w]], #4\n\t"
#define TILEWRIGHT_LOAD_SUMS2 "ldm %[w]!, {r0, r1}\n\t"
#define TILEWRIGHT_LOAD_SUMS3 "ldm %[w]!, {r0, r1, r2}\n\t"
#define TILEWRIGHT_LOAD_SUMS4 "ldm %[w]!, {r0, r1, r2, r3}\n\t"
#define TILEWRIGHT_LOAD1 "ldr r4, [%[w]], #4\n\t"
#define TILEWRIGHT_LOAD2 "ldm %[w]!, {r4, r5}\n\t"
#define TILEWRIGHT_LOAD3 "ldm %[w]!, {r4, r5, r6}\n\t"
#define TILEWRIGHT_LOAD4 "ldm %[w]!, {r4, r5, r6, r8}\n\t"
#define TILEWRIGHT_INTO_SUMS1(x) "smlad r0, %[" x "], r4, r0\n\t"
#define TILEWRIGHT_INTO_SUMS2(x) TILEWRIGHT_INTO_SUMS1(x) "smlad r1, %[" x "], r5, r1\n\t"
#define TILEWRIGHT_INTO_SUMS3(x) TILEWRIGHT_INTO_SUMS2(x) "smlad r2, %[" x "], r6, r2\n\t"
#define TILEWRIGHT_INTO_SUMS4(x) TILEWRIGHT_INTO_SUMS3(x) "smlad r3, %[" x "], r8, r3\n\t"
#define TILEWRIGHT_HALVES_OF(number, letter) \
    letter "xtb16 %[e], %[o]\n\t" letter "xtb16 %[o], %[o], ror #8\n\t" \
    TILEWRIGHT_LOAD##number TILEWRIGHT_INTO_SUMS##number("e") TILEWRIGHT_LOAD##number TILEWRIGHT_INTO_SUMS##number("o")
#define TILEWRIGHT_GROUP(number, letter) "ldr %[o], [%[x]], #4\n\t" TILEWRIGHT_HALVES_OF(number, letter)
#define TILEWRIGHT_ONE_CODE(sum, multiplier, saturate) \
    "smmla " sum ", " sum ", " multiplier ", %[e]\n\t" saturate sum ", #8, " sum ", asr #%c[shift]\n\t" \
    "strb " sum ", [%[y]], #1\n\t"
#define TILEWRIGHT_TO_BYTES1(saturate) TILEWRIGHT_ONE_CODE("r0", "r4", saturate)
#define TILEWRIGHT_TO_BYTES2(saturate) TILEWRIGHT_TO_BYTES1(saturate) TILEWRIGHT_ONE_CODE("r1", "r5", saturate)
#define TILEWRIGHT_TO_BYTES3(saturate) TILEWRIGHT_TO_BYTES2(saturate) TILEWRIGHT_ONE_CODE("r2", "r6", saturate)
#define TILEWRIGHT_TO_BYTES4(saturate) TILEWRIGHT_TO_BYTES3(saturate) TILEWRIGHT_ONE_CODE("r3", "r8", saturate)
/* The operands that move are marked as written early: else `end` may share a register with the result behind the row.
 * What is `left` behind the groups: 1 or 2 inputs; 3, read with one input before; 4 for three that are all. */
#define TILEWRIGHT_COLUMN_SUMS(number, letter, load, saturate) \
    "2:\n\t" TILEWRIGHT_LOAD_SUMS##number \
    ".rept %c[rest]\n\t" TILEWRIGHT_GROUP(number, letter) ".endr\n\t" \
    ".if %c[loops]\n\t1:\n\t.rept 8\n\t" TILEWRIGHT_GROUP(number, letter) ".endr\n\t" \
    "cmp %[x], %[end]\n\tbne.w 1b\n\t.endif\n\t" \
    ".if %c[left] == 3\n\tldr %[o], [%[x], #-1]\n\t" TILEWRIGHT_HALVES_OF(number, letter) ".endif\n\t" \
    ".if %c[left] == 2 || %c[left] == 4\n\t" load "%[e], [%[x]]\n\t" load "%[o], [%[x], #1]\n\tpkhbt %[e], %[e], %[o], lsl #16\n\t" \
    TILEWRIGHT_LOAD##number TILEWRIGHT_INTO_SUMS##number("e") ".endif\n\t" \
    ".if %c[left] == 1\n\t" load "%[e], [%[x]]\n\t" \
    TILEWRIGHT_LOAD##number TILEWRIGHT_INTO_SUMS##number("e") ".endif\n\t" \
    ".if %c[left] == 4\n\t" load "%[e], [%[x], #2]\n\t" \
    TILEWRIGHT_LOAD##number TILEWRIGHT_INTO_SUMS##number("e") ".endif\n\t" \
    TILEWRIGHT_LOAD##number "ldr %[e], %[addend]\n\t" TILEWRIGHT_TO_BYTES##number(saturate) \
    "ldrd %[x], %[e], %[from]\n\tcmp %[y], %[e]\n\tbne.w 2b\n\t"
#define TILEWRIGHT_COLUMNS_OF(number, in, letter, load, out, saturate) \
    TILEWRIGHT_INTO const uint32_t *tilewright_columns##number##in##out( \
        const int inputs, const int shift, const uint32_t *w, int8_t *y, const tilewright_columns_frame *f) \
    { \
        const int groups = inputs / 4; \
        const int loops = groups > TILEWRIGHT_GROUPS_IN_A_ROW; \
        const int rest = loops ? groups % 8 : groups; \
        const int left = inputs == 3 ? 4 : inputs % 4; \
        const int8_t *x = f->x; \
        const int8_t *const end = x + groups * 4; \
        uint32_t e, o; \
        __asm__ volatile(TILEWRIGHT_COLUMN_SUMS(number, letter, load, saturate) \
            : [e] "=&r"(e), [o] "=&r"(o), [x] "+&r"(x), [y] "+&r"(y), [w] "+&r"(w) \
            : [from] "m"(f->x), "m"(f->last), [addend] "m"(f->addend), [end] "r"(end), [rest] "i"(rest), \
              [loops] "i"(loops), [left] "i"(left), [shift] "i"(shift) \
            : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "cc", "memory"); \
        return w; \
    }
#define TILEWRIGHT_COLUMNS_EACH(number) \
    TILEWRIGHT_COLUMNS_OF(number, , "s", "ldrsb ", , "ssat ") \
    TILEWRIGHT_COLUMNS_OF(number, _unsigned, "u", "ldrb ", , "ssat ") \
    TILEWRIGHT_COLUMNS_OF(number, , "s", "ldrsb ", _to_unsigned, "usat ") \
    TILEWRIGHT_COLUMNS_OF(number, _unsigned, "u", "ldrb ", _to_unsigned, "usat ")
#endif

TILEWRIGHT_COLUMNS_EACH(1)
TILEWRIGHT_COLUMNS_EACH(2)
TILEWRIGHT_COLUMNS_EACH(3)
TILEWRIGHT_COLUMNS_EACH(4)
