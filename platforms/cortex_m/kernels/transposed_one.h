/* A transposed convolution of floats with one result of a pixel: its products with the inputs where they lie. It brings
 * tilewright_phase_add. */
#define TILEWRIGHT_PHASE_PIXELS(weight, x0, x1, x2, x3) \
    "vfma.f32 s0, s" x0 ", s" weight "\n\tvfma.f32 s1, s" x1 ", s" weight "\n\t" \
    "vfma.f32 s2, s" x2 ", s" weight "\n\tvfma.f32 s3, s" x3 ", s" weight "\n\t"

/* Adds the inputs of a tap for four pixels, each times its weight, to the sums of one channel; the weights behind them. */
static inline __attribute__((always_inline)) const float *tilewright_phase_add(
    const float *const *taps, const float *weights, int inputs, float *sums)
{
    const float *x0 = taps[0], *x1 = taps[1], *x2 = taps[2], *x3 = taps[3];
    const float *const fours = weights + inputs / 4 * 4;
    const float *const end = weights + inputs;
    if (weights != fours) {
        __asm__ volatile(
            "vldmia %[sums], {s0-s3}\n\t"
            "1:\n\tvldmia %[w]!, {s4-s7}\n\tvldmia %[x0]!, {s8-s11}\n\tvldmia %[x1]!, {s12-s15}\n\t"
            "vldmia %[x2]!, {s16-s19}\n\tvldmia %[x3]!, {s20-s23}\n\t"
            TILEWRIGHT_PHASE_PIXELS("4", "8", "12", "16", "20") TILEWRIGHT_PHASE_PIXELS("5", "9", "13", "17", "21")
            TILEWRIGHT_PHASE_PIXELS("6", "10", "14", "18", "22") TILEWRIGHT_PHASE_PIXELS("7", "11", "15", "19", "23")
            "cmp %[w], %[fours]\n\tbne 1b\n\tvstmia %[sums], {s0-s3}\n\t"
            : [w] "+r"(weights), [x0] "+r"(x0), [x1] "+r"(x1), [x2] "+r"(x2), [x3] "+r"(x3)
            : [fours] "r"(fours), [sums] "r"(sums)
            : "cc", "memory", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13",
              "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23");
    }
    while (weights != end) {
        const float weight = *weights++;
        sums[0] = TILEWRIGHT_MULTIPLY_ADD(weight, *x0++, sums[0]);
        sums[1] = TILEWRIGHT_MULTIPLY_ADD(weight, *x1++, sums[1]);
        sums[2] = TILEWRIGHT_MULTIPLY_ADD(weight, *x2++, sums[2]);
        sums[3] = TILEWRIGHT_MULTIPLY_ADD(weight, *x3++, sums[3]);
    }
    return weights;
}
