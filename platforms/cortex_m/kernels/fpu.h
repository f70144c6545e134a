/* Float kernels of cores with a single-precision unit: multiply-accumulates in blocks that fill its registers, operands
 * loaded several at a time. It brings tilewright_float_gather, tilewright_float_block, tilewright_float_row, tilewright_float_four_rows. */
#if !defined(__ARM_FP)
#error "these kernels need a core with a floating-point unit"
#endif

/* Interleaves `count` inputs of four pixels. */
TILEWRIGHT_FLOAT float *tilewright_float_gather(const float *const *sources, float *to, int count)
{
    const float *a = sources[0];
    const float *b = sources[1];
    const float *c = sources[2];
    const float *d = sources[3];
    __asm__ volatile(
        "tst %[n], #1\n\tbeq 2f\n\t"
        "vldmia %[a]!, {s0}\n\tvldmia %[b]!, {s1}\n\tvldmia %[c]!, {s2}\n\tvldmia %[d]!, {s3}\n\t"
        "vstmia %[to]!, {s0-s3}\n\tsubs %[n], %[n], #1\n\tbeq 3f\n\t"
        "2:\n\tvldmia %[a]!, {s0}\n\tvldmia %[b]!, {s1}\n\tvldmia %[c]!, {s2}\n\tvldmia %[d]!, {s3}\n\t"
        "vldmia %[a]!, {s4}\n\tvldmia %[b]!, {s5}\n\tvldmia %[c]!, {s6}\n\tvldmia %[d]!, {s7}\n\t"
        "vstmia %[to]!, {s0-s7}\n\tsubs %[n], %[n], #2\n\tbne 2b\n\t3:\n\t"
        : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [to] "+r"(to), [n] "+r"(count)
        :
        : "cc", "memory", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7");
    return to;
}

#define TILEWRIGHT_FLOAT_PIXEL(x, a, b, c, d) \
    "vfma.f32 s" a ", s" x ", s20\n\tvfma.f32 s" b ", s" x ", s21\n\t" \
    "vfma.f32 s" c ", s" x ", s22\n\tvfma.f32 s" d ", s" x ", s23\n\t"
#define TILEWRIGHT_FLOAT_STEP \
    "vldmia %[x]!, {s16-s19}\n\tvldmia %[w]!, {s20-s23}\n\t" \
    TILEWRIGHT_FLOAT_PIXEL("16", "0", "1", "2", "3") TILEWRIGHT_FLOAT_PIXEL("17", "4", "5", "6", "7") \
    TILEWRIGHT_FLOAT_PIXEL("18", "8", "9", "10", "11") TILEWRIGHT_FLOAT_PIXEL("19", "12", "13", "14", "15")
#define TILEWRIGHT_FLOAT_ACCUMULATORS \
    "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15"

/* Sums of four pixels times four channels into sums[pixel][channel]; inputs lie [input][pixel], weights
 * [input][channel] after four starts. Returns what follows the weights. */
TILEWRIGHT_FLOAT const float *tilewright_float_block(const float *x, const float *w, int inputs, float *sums)
{
    const float *const end = x + inputs * 4;
    const int odd = inputs & 1;
    __asm__ volatile(
        "vldmia %[w]!, {s0-s3}\n\tvmov.f32 s4, s0\n\tvmov.f32 s5, s1\n\tvmov.f32 s6, s2\n\tvmov.f32 s7, s3\n\t"
        "vmov.f32 s8, s0\n\tvmov.f32 s9, s1\n\tvmov.f32 s10, s2\n\tvmov.f32 s11, s3\n\t"
        "vmov.f32 s12, s0\n\tvmov.f32 s13, s1\n\tvmov.f32 s14, s2\n\tvmov.f32 s15, s3\n\t"
        "cmp %[odd], #0\n\tbne 2f\n\t"
        "1:\n\t" TILEWRIGHT_FLOAT_STEP "2:\n\t" TILEWRIGHT_FLOAT_STEP "cmp %[x], %[end]\n\tbne 1b\n\t"
        "vstmia %[sums], {s0-s15}\n\t"
        : [x] "+r"(x), [w] "+r"(w)
        : [end] "r"(end), [odd] "r"(odd), [sums] "r"(sums)
        : "cc", "memory", TILEWRIGHT_FLOAT_ACCUMULATORS, "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23");
    return w;
}

#define TILEWRIGHT_FLOAT_FOUR_COLUMNS(x) \
    "vldmia %[w]!, {s8-s11}\n\tvfma.f32 s0, s" #x ", s8\n\tvfma.f32 s1, s" #x ", s9\n\t" \
    "vfma.f32 s2, s" #x ", s10\n\tvfma.f32 s3, s" #x ", s11\n\t"

/* Sums of one row times four columns; weights [input][column] after four starts. Returns what follows them. */
TILEWRIGHT_FLOAT const float *tilewright_float_row(const float *x, const float *w, int inputs, float *sums)
{
    const float *const whole = x + inputs / 4 * 4;
    const float *const end = x + inputs;
    __asm__ volatile(
        "vldmia %[w]!, {s0-s3}\n\tcmp %[x], %[whole]\n\tbeq 2f\n\t"
        "1:\n\tvldmia %[x]!, {s4-s7}\n\t" TILEWRIGHT_FLOAT_FOUR_COLUMNS(4) TILEWRIGHT_FLOAT_FOUR_COLUMNS(5)
        TILEWRIGHT_FLOAT_FOUR_COLUMNS(6) TILEWRIGHT_FLOAT_FOUR_COLUMNS(7) "cmp %[x], %[whole]\n\tbne 1b\n\t"
        "2:\n\tcmp %[x], %[end]\n\tbeq 3f\n\tvldmia %[x]!, {s4}\n\t" TILEWRIGHT_FLOAT_FOUR_COLUMNS(4) "b 2b\n\t"
        "3:\n\tvstmia %[sums], {s0-s3}\n\t"
        : [x] "+r"(x), [w] "+r"(w)
        : [whole] "r"(whole), [end] "r"(end), [sums] "r"(sums)
        : "cc", "memory", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11");
    return w;
}

#define TILEWRIGHT_FLOAT_WEIGHED(x, w0, w1, w2, w3, a, b, c, d) \
    "vfma.f32 s" a ", s" x ", s" w0 "\n\tvfma.f32 s" b ", s" x ", s" w1 "\n\t" \
    "vfma.f32 s" c ", s" x ", s" w2 "\n\tvfma.f32 s" d ", s" x ", s" w3 "\n\t"
#define TILEWRIGHT_FLOAT_FOUR_ROWS(x0, x1, x2, x3, w0, w1, w2, w3) \
    TILEWRIGHT_FLOAT_WEIGHED(x0, w0, w1, w2, w3, "0", "1", "2", "3") \
    TILEWRIGHT_FLOAT_WEIGHED(x1, w0, w1, w2, w3, "4", "5", "6", "7") \
    TILEWRIGHT_FLOAT_WEIGHED(x2, w0, w1, w2, w3, "8", "9", "10", "11") \
    TILEWRIGHT_FLOAT_WEIGHED(x3, w0, w1, w2, w3, "12", "13", "14", "15")

/* Sums of four rows times four columns into sums[row][column]; rows are `pitch` elements apart, weights [input][column]
 * after four starts. Two inputs a turn: 39 instructions for 32 products. Returns what follows the weights. */
TILEWRIGHT_FLOAT const float *tilewright_float_four_rows(const float *x, int pitch, const float *w, int inputs, float *sums)
{
    const float *a0 = x;
    const float *a1 = &a0[pitch];
    const float *a2 = &a1[pitch];
    const float *a3 = &a2[pitch];
    const float *const end = &x[inputs];
    __asm__ volatile(
        "vldmia %[w]!, {s0-s3}\n\tvmov.f32 s4, s0\n\tvmov.f32 s5, s1\n\tvmov.f32 s6, s2\n\tvmov.f32 s7, s3\n\t"
        "vmov.f32 s8, s0\n\tvmov.f32 s9, s1\n\tvmov.f32 s10, s2\n\tvmov.f32 s11, s3\n\t"
        "vmov.f32 s12, s0\n\tvmov.f32 s13, s1\n\tvmov.f32 s14, s2\n\tvmov.f32 s15, s3\n\t"
        "tst %[n], #1\n\tbeq 2f\n\tvldmia %[w]!, {s24-s27}\n\tvldmia %[a0]!, {s16}\n\tvldmia %[a1]!, {s18}\n\t"
        "vldmia %[a2]!, {s20}\n\tvldmia %[a3]!, {s22}\n\t"
        TILEWRIGHT_FLOAT_FOUR_ROWS("16", "18", "20", "22", "24", "25", "26", "27")
        "2:\n\tcmp %[a0], %[end]\n\tbeq 3f\n\t1:\n\tvldmia %[w]!, {s24-s31}\n\tvldmia %[a0]!, {s16, s17}\n\t"
        "vldmia %[a1]!, {s18, s19}\n\tvldmia %[a2]!, {s20, s21}\n\tvldmia %[a3]!, {s22, s23}\n\t"
        TILEWRIGHT_FLOAT_FOUR_ROWS("16", "18", "20", "22", "24", "25", "26", "27")
        TILEWRIGHT_FLOAT_FOUR_ROWS("17", "19", "21", "23", "28", "29", "30", "31")
        "cmp %[a0], %[end]\n\tbne.w 1b\n\t3:\n\tvstmia %[sums], {s0-s15}\n\t"
        : [a0] "+&r"(a0), [a1] "+&r"(a1), [a2] "+&r"(a2), [a3] "+&r"(a3), [w] "+&r"(w)
        : [n] "r"(inputs), [end] "r"(end), [sums] "r"(sums)
        : "cc", "memory", TILEWRIGHT_FLOAT_ACCUMULATORS, "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24",
          "s25", "s26", "s27", "s28", "s29", "s30", "s31");
    return w;
}
