/* Depthwise 3x3 (Helium): words of one column's four rows for each of sixteen channels, gathered four columns at a time, so
 * that one sum of sixteen products is one result. It brings tilewright_mve_turn, tilewright_mve_skim,
 * TILEWRIGHT_MVE_SQUARES, TILEWRIGHT_MVE_EVERY and what is passed to them. */

/* Moves the columns' rows up by two and adds two; a row outside the input is a run of zero points of step 0. */
TILEWRIGHT_MVE_INTO void tilewright_mve_turn(
    int8_t *columns, const int8_t *first, uint32_t first_step, const int8_t *second, uint32_t second_step, int count, int channels)
{
    __asm__ volatile(
        "vctp.8 %[channels]\n\tdls lr, %[count]\n\t"
        "1:\n\tvld40.8 {q2, q3, q4, q5}, [%[z]]\n\tvld41.8 {q2, q3, q4, q5}, [%[z]]\n\t"
        "vld42.8 {q2, q3, q4, q5}, [%[z]]\n\tvld43.8 {q2, q3, q4, q5}, [%[z]]\n\t"
        "vpstt\n\tvldrbt.8 q6, [%[a]]\n\tvldrbt.8 q7, [%[b]]\n\t"
        "vst40.8 {q4, q5, q6, q7}, [%[z]]\n\tvst41.8 {q4, q5, q6, q7}, [%[z]]\n\t"
        "vst42.8 {q4, q5, q6, q7}, [%[z]]\n\tvst43.8 {q4, q5, q6, q7}, [%[z]]!\n\t"
        "add %[a], %[a], %[by]\n\tadd %[b], %[b], %[step]\n\tle lr, 1b\n\t"
        : [z] "+r"(columns), [a] "+r"(first), [b] "+r"(second)
        : [by] "r"(first_step), [step] "r"(second_step), [count] "r"(count), [channels] "r"(channels)
        : "cc", "memory", "lr", "q2", "q3", "q4", "q5", "q6", "q7");
}

/* Three new rows. */
TILEWRIGHT_MVE_INTO void tilewright_mve_skim(
    int8_t *columns, const int8_t *const *rows, const uint32_t *steps, int count, int channels)
{
    const int8_t *first = rows[0], *second = rows[1], *third = rows[2];
    __asm__ volatile(
        "vctp.8 %[channels]\n\tdls lr, %[count]\n\t"
        "1:\n\tvpsttt\n\tvldrbt.8 q4, [%[a]]\n\tvldrbt.8 q5, [%[b]]\n\tvldrbt.8 q6, [%[c]]\n\t"
        "vst40.8 {q4, q5, q6, q7}, [%[z]]\n\tvst41.8 {q4, q5, q6, q7}, [%[z]]\n\t"
        "vst42.8 {q4, q5, q6, q7}, [%[z]]\n\tvst43.8 {q4, q5, q6, q7}, [%[z]]!\n\t"
        "add %[a], %[a], %[by]\n\tadd %[b], %[b], %[step]\n\tadd %[c], %[c], %[last]\n\tle lr, 1b\n\t"
        : [z] "+r"(columns), [a] "+r"(first), [b] "+r"(second), [c] "+r"(third)
        : [by] "r"(steps[0]), [step] "r"(steps[1]), [last] "r"(steps[2]), [count] "r"(count), [channels] "r"(channels)
        : "cc", "memory", "lr", "q4", "q5", "q6", "q7");
}

/* Numbers of a channel in r8, r10 and r12: start, multiplier, addend. */
#define TILEWRIGHT_MVE_WORD(q) "vadd.i32 " q ", " q ", r8\n\tvqdmulh.s32 " q ", " q ", r10\n\tvadd.i32 " q ", " q ", r12\n\t"
#define TILEWRIGHT_MVE_FOUR(q) "vmov " q "[2], " q "[0], r0, r4\n\tvmov " q "[3], " q "[1], r2, r6\n\t"
/* Two rows of two results: weights of the window at the left in q2 and q4, one column on in q3 and q5. */
#define TILEWRIGHT_MVE_SQUARE(q) \
    "vldrw.u32 q0, [%[z], q7]\n\tvmladav.s8 r0, q0, q2\n\tvmladav.s8 r2, q0, q3\n\t" \
    "vmladav.s8 r4, q0, q4\n\tvmladav.s8 r6, q0, q5\n\t" TILEWRIGHT_MVE_FOUR(q) TILEWRIGHT_MVE_WORD(q)
#define TILEWRIGHT_MVE_TWO_SQUARES(apart, shift) \
    TILEWRIGHT_MVE_SQUARE("q1") "add %[z], %[z], #" apart "\n\t" TILEWRIGHT_MVE_SQUARE("q0") \
    "vqrshrnb.s32 q1, q1, #" shift "\n\tvqrshrnt.s32 q1, q0, #" shift "\n\tvqmovnb.s16 q1, q1\n\tvstrb.16 q1, [%[y], q6]\n\t"
/* The results of two rows, channel by channel, four columns at a time `times` over, then those at the end, `back` from
 * there. `lower` is 8 for the second row, or 0 where there is none: then it repeats the first. */
#define TILEWRIGHT_MVE_AGAIN(shift, back, y_back) \
    "sub.w %[z], %[z], #" back "\n\tsub.w %[y], %[y], #" y_back "\n\t" TILEWRIGHT_MVE_TWO_SQUARES("128", shift)
#define TILEWRIGHT_MVE_LOOP(times, shift, y_step) \
    "movw r0, #" times "\n\tdls lr, r0\n\t2:\n\t" TILEWRIGHT_MVE_TWO_SQUARES("128", shift) \
    "add.w %[z], %[z], #128\n\tadd.w %[y], %[y], #" y_step "\n\tle lr, 2b\n\t"
#define TILEWRIGHT_MVE_SQUARES(name, squares) \
    TILEWRIGHT_MVE_INTO void name(const int8_t *columns, const uint32_t *stream, int8_t *to, const uint16_t *places, \
        int32_t lower, int channels) \
    { \
        TILEWRIGHT_WALKS(const int8_t *, z, "r1") = columns; \
        TILEWRIGHT_WALKS(int8_t *, y, "r3") = to; \
        TILEWRIGHT_WALKS(const uint32_t *, w, "r5") = stream; \
        TILEWRIGHT_WALKS(const int8_t *, next, "r7") = columns; \
        TILEWRIGHT_WALKS(int8_t *, result, "r9") = to; \
        TILEWRIGHT_WALKS(int, left, "r11") = channels; \
        TILEWRIGHT_WALKS(const uint16_t *, at, "r0") = places; \
        __asm__ volatile( \
            "vldrh.u16 q6, [%[at]]\n\tmovs r2, #0\n\tmovs r4, #64\n\tvidup.u32 q7, r2, #1\n\tvmul.i32 q7, q7, r4\n\t" \
            "1:\n\tvldrw.32 q2, [%[w]], #16\n\tldm %[w]!, {r8, r10, r12}\n\tldr r0, %[lower]\n\tmovs r2, #0\n\t" \
            "vmov q3, q2\n\tvshlc q3, r2, #32\n\tvmov q4, q2\n\tvshl.s32 q4, r0\n\tvmov q5, q3\n\tvshl.s32 q5, r0\n\t" \
            "mov %[z], %[next]\n\tmov %[y], %[result]\n\tadds %[next], #4\n\tadd.w %[result], %[result], #1\n\t" \
            squares "subs.w %[left], %[left], #1\n\tbne.w 1b\n\t" \
            : [z] "+r"(z), [y] "+r"(y), [w] "+r"(w), [next] "+r"(next), [result] "+r"(result), [left] "+r"(left), [at] "+r"(at) \
            : [lower] "m"(lower) \
            : "cc", "memory", "r2", "r4", "r6", "r8", "r10", "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7"); \
    }

/* One row of results, four at a time; gathers q3 to q6, results lie at q7. Weights of nine bits are the sum of q2 and of a
 * vector behind the numbers. */
#define TILEWRIGHT_MVE_SUM(q, r) "vldrw.u32 q0, [%[z], " q "]\n\tvmladav.s8 " r ", q0, q2\n\t"
#define TILEWRIGHT_MVE_SUM_NINE(q, r) TILEWRIGHT_MVE_SUM(q, r) "vmladava.s8 " r ", q0, q1\n\t"
#define TILEWRIGHT_MVE_FOUR_SUMS(sum) sum("q3", "r0") sum("q4", "r2") sum("q5", "r4") sum("q6", "r6")
#define TILEWRIGHT_MVE_ROW(shift) TILEWRIGHT_MVE_FOUR_SUMS(TILEWRIGHT_MVE_SUM) TILEWRIGHT_MVE_ROW_CODES(shift)
#define TILEWRIGHT_MVE_ROW_NINE(shift) \
    "vldrw.32 q1, [%[w]]\n\t" TILEWRIGHT_MVE_FOUR_SUMS(TILEWRIGHT_MVE_SUM_NINE) TILEWRIGHT_MVE_ROW_CODES(shift)
#define TILEWRIGHT_MVE_NINE_NEXT "adds %[w], #16\n\t"
#define TILEWRIGHT_MVE_ROW_CODES(shift) \
    TILEWRIGHT_MVE_FOUR("q1") TILEWRIGHT_MVE_WORD("q1") \
    "vqrshrnb.s32 q1, q1, #" shift "\n\tvqmovnb.s16 q1, q1\n\tvstrb.32 q1, [%[y], q7]\n\t"
#define TILEWRIGHT_MVE_ROW_AGAIN(row, shift, back, y_back) \
    "sub.w %[z], %[z], #" back "\n\tsub.w %[y], %[y], #" y_back "\n\t" row(shift)
#define TILEWRIGHT_MVE_ROW_LOOP(row, times, shift, step, y_step) \
    "movw r0, #" times "\n\tdls lr, r0\n\t2:\n\t" row(shift) \
    "add.w %[z], %[z], #" step "\n\tadd.w %[y], %[y], #" y_step "\n\tle lr, 2b\n\t"
#define TILEWRIGHT_MVE_EVERY(name, row) \
    TILEWRIGHT_MVE_INTO void name( \
        const int8_t *columns, const uint32_t *stream, int8_t *to, const uint32_t *places, int channels) \
    { \
        TILEWRIGHT_WALKS(const uint32_t *, at, "r0") = places; \
        TILEWRIGHT_WALKS(const int8_t *, z, "r1") = columns; \
        TILEWRIGHT_WALKS(int8_t *, y, "r3") = to; \
        TILEWRIGHT_WALKS(const uint32_t *, w, "r5") = stream; \
        TILEWRIGHT_WALKS(const int8_t *, next, "r7") = columns; \
        TILEWRIGHT_WALKS(int8_t *, result, "r9") = to; \
        TILEWRIGHT_WALKS(int, left, "r11") = channels; \
        __asm__ volatile( \
            "vldrw.32 q3, [%[at]]\n\tvldrw.32 q4, [%[at], #16]\n\tvldrw.32 q5, [%[at], #32]\n\t" \
            "vldrw.32 q6, [%[at], #48]\n\tvldrw.32 q7, [%[at], #64]\n\t" \
            "1:\n\tvldrw.32 q2, [%[w]], #16\n\tldm %[w]!, {r8, r10, r12}\n\t" \
            "mov %[z], %[next]\n\tmov %[y], %[result]\n\tadds %[next], #4\n\tadd.w %[result], %[result], #1\n\t" \
            row "subs.w %[left], %[left], #1\n\tbne.w 1b\n\t" \
            : [at] "+r"(at), [z] "+r"(z), [y] "+r"(y), [w] "+r"(w), [next] "+r"(next), [result] "+r"(result), [left] "+r"(left) \
            : \
            : "cc", "memory", "r2", "r4", "r6", "r8", "r10", "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7"); \
    }
