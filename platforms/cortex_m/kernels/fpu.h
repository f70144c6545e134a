/* Float kernels of cores with a single-precision unit: multiply-accumulates in blocks that fill its registers, operands
 * loaded several at a time. It brings tilewright_float_gather, tilewright_float_block, tilewright_float_row. */
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
