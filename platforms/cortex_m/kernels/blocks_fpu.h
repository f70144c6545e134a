/* Four by four sums of float products over operands of the run time, added to what they hold, in the registers of a
 * floating-point unit. It brings tilewright_tap, tilewright_block_rows, tilewright_block_dots, tilewright_block_taps, and what
 * goes with them. */
typedef struct {
    const float *w, *source; /* weights [plane][4], and four neighbouring elements of the first plane */
} tilewright_tap;

/* Four inputs a turn, the first one from its middle where an even number is no multiple of four. */
#define TILEWRIGHT_BLOCK_TURNS(two, first, middle) \
    "tst %[n], #2\n\tbne " middle "f\n\t" first ":\n\t" two middle ":\n\t" two "cmp %[a0], %[end]\n\tbne " first "b\n\t"
#define TILEWRIGHT_BLOCK_LEFT_ONE \
    "vldmia %[a0]!, {s16}\n\tvldmia %[a1]!, {s18}\n\tvldmia %[a2]!, {s24}\n\tvldmia %[a3]!, {s26}\n\t"

#define TILEWRIGHT_BLOCK_TWO_SIDE_BY_SIDE \
    "vldmia %[a0]!, {s24, s25}\n\tvldmia %[a1]!, {s26, s27}\n\tvldmia %[a2]!, {s28, s29}\n\tvldmia %[a3]!, {s30, s31}\n\t" \
    "vldmia %[b]!, {s16-s23}\n\t" TILEWRIGHT_FLOAT_INPUT("vfma.f32", "24", "26", "28", "30", "16", "17", "18", "19") \
    TILEWRIGHT_FLOAT_INPUT("vfma.f32", "25", "27", "29", "31", "20", "21", "22", "23")

/* Rows of neighbouring inputs times four neighbouring elements of each input: sums[4 * row + element]. */
TILEWRIGHT_FLOAT void tilewright_block_rows(const float *const *rows, const float *b, int step, int inputs, float *sums)
{
    const float *a0 = rows[0], *a1 = rows[1], *a2 = rows[2], *a3 = rows[3];
    const float *const end = a0 + inputs;
    __asm__ volatile(
        "vldmia %[sums], {s0-s15}\n\ttst %[n], #1\n\tbeq 1f\n\t" TILEWRIGHT_BLOCK_LEFT_ONE TILEWRIGHT_FLOAT_RIGHT_ROW
        TILEWRIGHT_FLOAT_INPUT("vfma.f32", "16", "18", "24", "26", "20", "21", "22", "23")
        "1:\n\tcmp %[a0], %[end]\n\tbeq 4f\n\tcmp %[step], #16\n\tbeq 3f\n\t"
        TILEWRIGHT_BLOCK_TURNS(TILEWRIGHT_FLOAT_TWO_BY_ROWS("vfma.f32"), "5", "6") "b 4f\n\t3:\n\t"
        TILEWRIGHT_BLOCK_TURNS(TILEWRIGHT_BLOCK_TWO_SIDE_BY_SIDE, "7", "8")
        "4:\n\tvstmia %[sums], {s0-s15}\n\t"
        : [a0] "+r"(a0), [a1] "+r"(a1), [a2] "+r"(a2), [a3] "+r"(a3), [b] "+r"(b)
        : [step] "r"(step * 4), [end] "r"(end), [n] "r"(inputs), [sums] "r"(sums)
        : "cc", "memory", TILEWRIGHT_FLOAT_ACCUMULATORS, "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24",
          "s25", "s26", "s27", "s28", "s29", "s30", "s31");
}

/* Four lines times four lines of neighbouring inputs: sums[4 * line of y + line of x]. */
TILEWRIGHT_FLOAT void tilewright_block_dots(const float *const *y, const float *const *x, int inputs, float *sums)
{
    const float *a0 = y[0], *a1 = y[1], *a2 = y[2], *a3 = y[3], *b0 = x[0], *b1 = x[1], *b2 = x[2], *b3 = x[3];
    const float *const end = a0 + inputs;
    __asm__ volatile(
        "vldmia %[sums], {s0-s15}\n\ttst %[n], #1\n\tbeq 1f\n\t" TILEWRIGHT_BLOCK_LEFT_ONE
        "vldmia %[b0]!, {s20}\n\tvldmia %[b1]!, {s22}\n\tvldmia %[b2]!, {s28}\n\tvldmia %[b3]!, {s30}\n\t"
        TILEWRIGHT_FLOAT_INPUT("vfma.f32", "16", "18", "24", "26", "20", "22", "28", "30")
        "1:\n\tcmp %[a0], %[end]\n\tbeq 2f\n\t"
        TILEWRIGHT_BLOCK_TURNS(TILEWRIGHT_FLOAT_TWO_BY_COLUMNS("vfma.f32"), "3", "4")
        "2:\n\tvstmia %[sums], {s0-s15}\n\t"
        : [a0] "+r"(a0), [a1] "+r"(a1), [a2] "+r"(a2), [a3] "+r"(a3), [b0] "+r"(b0), [b1] "+r"(b1), [b2] "+r"(b2),
          [b3] "+r"(b3)
        : [end] "r"(end), [n] "r"(inputs), [sums] "r"(sums)
        : "cc", "memory", TILEWRIGHT_FLOAT_ACCUMULATORS, "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24",
          "s25", "s26", "s27", "s28", "s29", "s30", "s31");
}

#define TILEWRIGHT_BLOCK_PLANE \
    "vldmia %[w]!, {s16-s19}\n\tvldmia %[source], {s20-s23}\n\tadd %[source], %[source], %[step]\n\t" \
    TILEWRIGHT_FLOAT_PIXEL("16", "0", "1", "2", "3") TILEWRIGHT_FLOAT_PIXEL("17", "4", "5", "6", "7") \
    TILEWRIGHT_FLOAT_PIXEL("18", "8", "9", "10", "11") TILEWRIGHT_FLOAT_PIXEL("19", "12", "13", "14", "15")

/* Of every tap the planes, each four neighbouring elements by four weights: sums[4 * weight + element]. */
TILEWRIGHT_FLOAT void tilewright_block_taps(const tilewright_tap *taps, int count, int planes, int step, float *sums)
{
    const tilewright_tap *const last = taps + count;
    const float *w = NULL, *source = NULL;
    int left = 0;
    __asm__ volatile(
        "vldmia %[sums], {s0-s15}\n\t"
        "1:\n\tldr %[w], [%[taps]], #4\n\tldr %[source], [%[taps]], #4\n\tmov %[left], %[planes]\n\ttst %[planes], #1\n\tbeq 2f\n\t"
        TILEWRIGHT_BLOCK_PLANE "subs %[left], %[left], #1\n\tbeq 3f\n\t"
        "2:\n\ttst %[left], #2\n\tbeq 4f\n\tadd %[left], %[left], #2\n\tb 5f\n\t"
        "4:\n\t" TILEWRIGHT_BLOCK_PLANE TILEWRIGHT_BLOCK_PLANE "5:\n\t" TILEWRIGHT_BLOCK_PLANE TILEWRIGHT_BLOCK_PLANE
        "subs %[left], %[left], #4\n\tbne 4b\n\t"
        "3:\n\tcmp %[taps], %[last]\n\tbne 1b\n\tvstmia %[sums], {s0-s15}\n\t"
        : [taps] "+r"(taps), [w] "+&r"(w), [source] "+&r"(source), [left] "+&r"(left)
        : [last] "r"(last), [planes] "r"(planes), [step] "r"(step * 4), [sums] "r"(sums)
        : "cc", "memory", TILEWRIGHT_FLOAT_ACCUMULATORS, "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23");
}

/* One for an odd count, then two a turn. */
#define TILEWRIGHT_BLOCK_BY_TWO(one) \
    "tst %[n], #1\n\tbeq 1f\n\t" one "subs %[n], %[n], #1\n\tbeq 2f\n\t1:\n\t" one one "subs %[n], %[n], #2\n\tbne 1b\n\t2:\n\t"
#define TILEWRIGHT_BLOCK_COPIED \
    "vldmia %[from], {s0-s3}\n\tadd %[from], %[from], %[step]\n\tvstmia %[put], {s0-s3}\n\tadd %[put], %[put], %[apart]\n\t"

/* Four neighbouring elements of every plane, `step` elements from one to the next, put `apart` elements from each other. */
TILEWRIGHT_FLOAT void tilewright_block_copy(const float *from, int step, int count, float *put, int apart)
{
    __asm__ volatile(
        TILEWRIGHT_BLOCK_BY_TWO(TILEWRIGHT_BLOCK_COPIED)
        : [from] "+r"(from), [put] "+r"(put), [n] "+r"(count)
        : [step] "r"(step * 4), [apart] "r"(apart * 4)
        : "cc", "memory", "s0", "s1", "s2", "s3");
}

#define TILEWRIGHT_BLOCK_INTERLEAVED \
    "vldr s0, [%[l0]]\n\tadd %[l0], %[l0], %[s0]\n\tvldr s1, [%[l1]]\n\tadd %[l1], %[l1], %[s1]\n\t" \
    "vldr s2, [%[l2]]\n\tadd %[l2], %[l2], %[s2]\n\tvldr s3, [%[l3]]\n\tadd %[l3], %[l3], %[s3]\n\t" \
    "vstmia %[put], {s0-s3}\n\tadd %[put], %[put], %[apart]\n\t"

/* Four lines of `count` elements side by side, [element][line]; a line whose step is 0 repeats its first element. */
TILEWRIGHT_FLOAT void tilewright_interleave(const float *const *lines, const int *steps, int count, float *put, int apart)
{
    const float *l0 = lines[0], *l1 = lines[1], *l2 = lines[2], *l3 = lines[3];
    __asm__ volatile(
        TILEWRIGHT_BLOCK_BY_TWO(TILEWRIGHT_BLOCK_INTERLEAVED)
        : [l0] "+r"(l0), [l1] "+r"(l1), [l2] "+r"(l2), [l3] "+r"(l3), [put] "+r"(put), [n] "+r"(count)
        : [s0] "r"(4 * steps[0]), [s1] "r"(4 * steps[1]), [s2] "r"(4 * steps[2]), [s3] "r"(4 * steps[3]),
          [apart] "r"(4 * apart)
        : "cc", "memory", "s0", "s1", "s2", "s3");
}

/* Four lines of neighbouring elements side by side, [element][line]; `count` is not 0. */
static inline __attribute__((always_inline)) void tilewright_block_interleave(const float *const *lines, int count, float *put)
{
    (void)tilewright_float_gather(lines, put, count);
}

#define TILEWRIGHT_BLOCK_INPUT(x) \
    "vldmia %[w], {s16-s23}\n\tadd %[w], %[w], %[step]\n\tvfma.f32 s0, s" x ", s16\n\tvfma.f32 s1, s" x ", s17\n\t" \
    "vfma.f32 s2, s" x ", s18\n\tvfma.f32 s3, s" x ", s19\n\tvfma.f32 s4, s" x ", s20\n\t" \
    "vfma.f32 s5, s" x ", s21\n\tvfma.f32 s6, s" x ", s22\n\tvfma.f32 s7, s" x ", s23\n\t"

/* One row of inputs times neighbouring columns of weights: y[column] += x[input] * w[input][column]. */
TILEWRIGHT_FLOAT void tilewright_block_vector(const float *x, const float *w, int inputs, int columns, float *y)
{
    const float *const end = x + inputs, *const whole = x + (inputs & ~3);
    int o = 0;
    for (; o + 8 <= columns; o += 8) {
        const float *from = x, *weights = w + o;
        __asm__ volatile(
            "vldmia %[y], {s0-s7}\n\tcmp %[x], %[whole]\n\tbeq 2f\n\t1:\n\tvldmia %[x]!, {s8-s11}\n\t"
            TILEWRIGHT_BLOCK_INPUT("8") TILEWRIGHT_BLOCK_INPUT("9") TILEWRIGHT_BLOCK_INPUT("10")
            TILEWRIGHT_BLOCK_INPUT("11") "cmp %[x], %[whole]\n\tbne 1b\n\t"
            "2:\n\tcmp %[x], %[end]\n\tbeq 3f\n\tvldmia %[x]!, {s8}\n\t" TILEWRIGHT_BLOCK_INPUT("8") "b 2b\n\t"
            "3:\n\tvstmia %[y], {s0-s7}\n\t"
            : [x] "+r"(from), [w] "+r"(weights)
            : [whole] "r"(whole), [end] "r"(end), [step] "r"(columns * 4), [y] "r"(y + o)
            : "cc", "memory", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s16", "s17",
              "s18", "s19", "s20", "s21", "s22", "s23");
    }
    for (; o < columns; o++) {
        const float *weights = w + o;
        float sum = y[o];
        for (const float *from = x; from != end; from++, weights += columns) {
            sum = TILEWRIGHT_MULTIPLY_ADD(*from, *weights, sum);
        }
        y[o] = sum;
    }
}

#define TILEWRIGHT_BLOCK_MOVED(w, dy) "vfma.f32 s0, s" w ", s" dy "\n\tvfma.f32 s" w ", s1, s" dy "\n\t"

/* Weights side by side move by `step` times their results' gradient; what the old ones give to the input's gradient. */
TILEWRIGHT_FLOAT float tilewright_block_moved(const float *w, const float *dy, float step, int count, float *next)
{
    float sum[2] = {0, step};
    int o = count & 7;
    if (count > o) {
        const float *const end = dy + (count - o);
        __asm__ volatile(
            "vldmia %[sum], {s0, s1}\n\t1:\n\tvldmia %[w]!, {s8-s15}\n\tvldmia %[dy]!, {s16-s23}\n\t"
            TILEWRIGHT_BLOCK_MOVED("8", "16") TILEWRIGHT_BLOCK_MOVED("9", "17") TILEWRIGHT_BLOCK_MOVED("10", "18")
            TILEWRIGHT_BLOCK_MOVED("11", "19") TILEWRIGHT_BLOCK_MOVED("12", "20") TILEWRIGHT_BLOCK_MOVED("13", "21")
            TILEWRIGHT_BLOCK_MOVED("14", "22") TILEWRIGHT_BLOCK_MOVED("15", "23")
            "vstmia %[next]!, {s8-s15}\n\tcmp %[dy], %[end]\n\tbne 1b\n\tvstmia %[sum], {s0}\n\t"
            : [w] "+r"(w), [dy] "+r"(dy), [next] "+r"(next)
            : [end] "r"(end), [sum] "r"(sum)
            : "cc", "memory", "s0", "s1", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18",
              "s19", "s20", "s21", "s22", "s23");
    }
    for (; o; o--) {
        const float weight = *w++, slope = *dy++;
        sum[0] = TILEWRIGHT_MULTIPLY_ADD(weight, slope, sum[0]);
        *next++ = TILEWRIGHT_MULTIPLY_ADD(step, slope, weight);
    }
    return sum[0];
}
