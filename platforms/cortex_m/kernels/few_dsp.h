/* Two pixels of up to eight inputs stay in registers, widened, while all channels pass by: 12 instructions for a channel of
 * two pixels with four inputs. `stream` holds of each channel its start, a word of weights for each two inputs, and its
 * multiplier; `x` the words of the first pixel, then those of the second. TILEWRIGHT_FEW defines such a function,
 * tilewright_few_`name`, of 1 to 4 `words`; the shift and the number of channels stand in its code, `at_once` in a turn. */
#if defined(TILEWRIGHT_IN_C) || !defined(__OPTIMIZE__)
/* Behind functions that are not optimised gcc keeps a register for their frames, and assembly finds thirteen. */
TILEWRIGHT_INTO int32_t tilewright_saturate_positive(int32_t value)
{
    int32_t code;
    __asm__("usat %0, #7, %1" : "=r"(code) : "r"(value));
    return code;
}

#define TILEWRIGHT_FEW_SIGNED tilewright_saturate
#define TILEWRIGHT_FEW_UNSIGNED tilewright_saturate_unsigned
#define TILEWRIGHT_FEW_POSITIVE tilewright_saturate_positive
#define TILEWRIGHT_FEW(name, words, saturate, shift, channels, at_once) \
    TILEWRIGHT_ONCE void tilewright_few_##name(const uint32_t *x, const int32_t *stream, int8_t *y, int32_t addend) \
    { \
        for (const int8_t *const end = y + (channels); y != end; y++, stream += (words) + 2) { \
            int32_t a = stream[0], b = stream[0]; \
            TILEWRIGHT_UNROLL \
            for (int i = 0; i < (words); i++) { \
                a = tilewright_smlad(x[i], (uint32_t)stream[1 + i], a); \
                b = tilewright_smlad(x[(words) + i], (uint32_t)stream[1 + i], b); \
            } \
            const int32_t multiplier = stream[(words) + 1]; \
            const int32_t first = tilewright_shifted(tilewright_scale(a, multiplier, addend), (shift)); \
            const int32_t second = tilewright_shifted(tilewright_scale(b, multiplier, addend), (shift)); \
            y[(channels)] = (int8_t)TILEWRIGHT_FEW_##saturate(second); \
            y[0] = (int8_t)TILEWRIGHT_FEW_##saturate(first); \
        } \
    }
#else
#define TILEWRIGHT_FEW_SIGNED "ssat", "#8"
#define TILEWRIGHT_FEW_UNSIGNED "usat", "#8"
#define TILEWRIGHT_FEW_POSITIVE "usat", "#7"
/* `w` is the address of the pixels until they are loaded, then a word of weights, and the multiplier in the end. */
#define TILEWRIGHT_FEW_LOAD(even, odd) "ldrd %[x" #even "], %[x" #odd "], [%[w], #" #even "*4]\n\t"
#define TILEWRIGHT_FEW_LOADS1 TILEWRIGHT_FEW_LOAD(0, 1)
#define TILEWRIGHT_FEW_LOADS2 TILEWRIGHT_FEW_LOADS1 TILEWRIGHT_FEW_LOAD(2, 3)
#define TILEWRIGHT_FEW_LOADS3 TILEWRIGHT_FEW_LOADS2 TILEWRIGHT_FEW_LOAD(4, 5)
#define TILEWRIGHT_FEW_LOADS4 TILEWRIGHT_FEW_LOADS3 TILEWRIGHT_FEW_LOAD(6, 7)
#define TILEWRIGHT_FEW_TERMS(word, first, second, from) \
    "smlad %[b], %[x" #second "], %[" #word "], %[" #from "]\n\tsmlad %[a], %[x" #first "], %[" #word "], %[a]\n\t"
#define TILEWRIGHT_FEW_START(second) "ldrd %[a], %[w], [%[t]], #8\n\t" TILEWRIGHT_FEW_TERMS(w, 0, second, a)
#define TILEWRIGHT_FEW_ONE "ldr %[w], [%[t]], #4\n\t"
#define TILEWRIGHT_FEW_TWO "ldrd %[w], %[m], [%[t]], #8\n\t"
#define TILEWRIGHT_FEW_SUMS1 TILEWRIGHT_FEW_START(1) TILEWRIGHT_FEW_ONE
#define TILEWRIGHT_FEW_SUMS2 TILEWRIGHT_FEW_START(2) TILEWRIGHT_FEW_TWO TILEWRIGHT_FEW_TERMS(w, 1, 3, b)
#define TILEWRIGHT_FEW_SUMS3 \
    TILEWRIGHT_FEW_START(3) TILEWRIGHT_FEW_TWO TILEWRIGHT_FEW_TERMS(w, 1, 4, b) TILEWRIGHT_FEW_TERMS(m, 2, 5, b) \
    TILEWRIGHT_FEW_ONE
#define TILEWRIGHT_FEW_SUMS4 \
    TILEWRIGHT_FEW_START(4) TILEWRIGHT_FEW_ONE TILEWRIGHT_FEW_TERMS(w, 1, 5, b) TILEWRIGHT_FEW_ONE \
    TILEWRIGHT_FEW_TERMS(w, 2, 6, b) TILEWRIGHT_FEW_ONE TILEWRIGHT_FEW_TERMS(w, 3, 7, b) TILEWRIGHT_FEW_ONE
#define TILEWRIGHT_FEW_MULTIPLIER1 "%[w]"
#define TILEWRIGHT_FEW_MULTIPLIER2 "%[m]"
#define TILEWRIGHT_FEW_MULTIPLIER3 "%[w]"
#define TILEWRIGHT_FEW_MULTIPLIER4 "%[w]"
#define TILEWRIGHT_FEW_REGISTERS1 [x0] "=&r"(x0), [x1] "=&r"(x1)
#define TILEWRIGHT_FEW_FOUR TILEWRIGHT_FEW_REGISTERS1, [x2] "=&r"(x2), [x3] "=&r"(x3)
#define TILEWRIGHT_FEW_SIX TILEWRIGHT_FEW_FOUR, [x4] "=&r"(x4), [x5] "=&r"(x5)
#define TILEWRIGHT_FEW_REGISTERS2 TILEWRIGHT_FEW_FOUR, [m] "=&r"(m)
#define TILEWRIGHT_FEW_REGISTERS3 TILEWRIGHT_FEW_SIX, [m] "=&r"(m)
#define TILEWRIGHT_FEW_REGISTERS4 TILEWRIGHT_FEW_SIX, [x6] "=&r"(x6), [x7] "=&r"(x7)
#define TILEWRIGHT_FEW_NAMES1 x0, x1
#define TILEWRIGHT_FEW_NAMES2 TILEWRIGHT_FEW_NAMES1, x2, x3, m
#define TILEWRIGHT_FEW_NAMES3 TILEWRIGHT_FEW_NAMES2, x4, x5
#define TILEWRIGHT_FEW_NAMES4 TILEWRIGHT_FEW_NAMES1, x2, x3, x4, x5, x6, x7
#define TILEWRIGHT_FEW_CODES_OF(saturate, bits, multiplier, shift, stride) \
    "smmla %[b], %[b], " multiplier ", %[addend]\n\tsmmla %[a], %[a], " multiplier ", %[addend]\n\t" \
    saturate " %[b], " bits ", %[b], asr #" shift "\n\t" saturate " %[a], " bits ", %[a], asr #" shift "\n\t" \
    "strb %[b], [%[y], #" stride "]\n\tstrb %[a], [%[y]], #1\n\t"
#define TILEWRIGHT_FEW_CODES(...) TILEWRIGHT_FEW_CODES_OF(__VA_ARGS__)

#define TILEWRIGHT_FEW(name, words, saturate, shift, channels, at_once) \
    TILEWRIGHT_ONCE void tilewright_few_##name(const uint32_t *x, const int32_t *stream, int8_t *y, int32_t addend) \
    { \
        const int32_t *const end = stream + (channels) * ((words) + 2); \
        const uint32_t *w = x; \
        uint32_t a, b, TILEWRIGHT_FEW_NAMES##words; \
        __asm__ volatile( \
            TILEWRIGHT_FEW_LOADS##words "1:\n\t.rept " #at_once "\n\t" TILEWRIGHT_FEW_SUMS##words \
            TILEWRIGHT_FEW_CODES(TILEWRIGHT_FEW_##saturate, TILEWRIGHT_FEW_MULTIPLIER##words, #shift, #channels) \
            ".endr\n\tldr %[w], %[end]\n\tcmp %[t], %[w]\n\tbne.w 1b\n\t" \
            : TILEWRIGHT_FEW_REGISTERS##words, [a] "=&r"(a), [b] "=&r"(b), [w] "+&r"(w), [t] "+&r"(stream), \
              [y] "+&r"(y) \
            : [addend] "r"(addend), [end] "m"(end) \
            : "cc", "memory"); \
    }
#endif
