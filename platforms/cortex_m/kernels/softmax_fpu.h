/* Softmax on floats by a single-precision unit. It brings tilewright_fpu_largest, tilewright_fpu_raised, tilewright_fpu_scaled
 * and tilewright_fpu_lowered. */

/* The largest of some values; of such that are no numbers only the first counts. */
TILEWRIGHT_FLOAT float tilewright_fpu_largest(const float *x, int count)
{
    float largest = x[0];
    int blocks = count / 4;
    if (blocks > 0) {
        __asm__ volatile(
            "1:\n\tvldmia %[x]!, {s0-s3}\n\t"
            "vcmp.f32 s0, %[largest]\n\tvmrs APSR_nzcv, fpscr\n\tit gt\n\tvmovgt.f32 %[largest], s0\n\t"
            "vcmp.f32 s1, %[largest]\n\tvmrs APSR_nzcv, fpscr\n\tit gt\n\tvmovgt.f32 %[largest], s1\n\t"
            "vcmp.f32 s2, %[largest]\n\tvmrs APSR_nzcv, fpscr\n\tit gt\n\tvmovgt.f32 %[largest], s2\n\t"
            "vcmp.f32 s3, %[largest]\n\tvmrs APSR_nzcv, fpscr\n\tit gt\n\tvmovgt.f32 %[largest], s3\n\t"
            "subs %[blocks], %[blocks], #1\n\tbne 1b\n\t"
            : [x] "+r"(x), [blocks] "+r"(blocks), [largest] "+t"(largest)
            :
            : "cc", "memory", "s0", "s1", "s2", "s3");
    }
    for (int i = 0; i < count % 4; i++) {
        largest = x[i] > largest ? x[i] : largest;
    }
    return largest;
}

/* exp(x - largest) of four times `blocks` values, which must not be none, and their sum on top of `total`. */
static inline __attribute__((always_inline)) float tilewright_fpu_powers(
    const float *x, float *y, int blocks, float largest, float total)
{
    static const float numbers[19] = {TILEWRIGHT_FPU_RAISED};
    const float *at = numbers;
    const uint32_t far = 0xc2b00000u;
    float sums[4] = {-88.0f, 0.0f, total, largest};
    __asm__ volatile(
        "vldmia %[sums], {s24-s27}\n\tvldmia %[numbers]!, {s28-s31}\n\t"
        "1:\n\tvldmia %[x]!, {s0-s3}\n\t" TILEWRIGHT_FPU_BOTH("vsub", "0", "1", "0", "1", "27", "27")
        TILEWRIGHT_FPU_BOTH("vsub", "2", "3", "2", "3", "27", "27")
        "vmov r4, r5, s0, s1\n\tvmov r6, r8, s2, s3\n\tcmp %[far], r4\n\tittt hs\n\tcmphs %[far], r5\n\t"
        "cmphs %[far], r6\n\tcmphs %[far], r8\n\tbhs.w 2f\n\t"
        "vcmp.f32 s0, s24\n\tvmrs APSR_nzcv, fpscr\n\tit mi\n\tvmovmi.f32 s0, s24\n\t"
        "vcmp.f32 s1, s24\n\tvmrs APSR_nzcv, fpscr\n\tit mi\n\tvmovmi.f32 s1, s24\n\t"
        "vcmp.f32 s2, s24\n\tvmrs APSR_nzcv, fpscr\n\tit mi\n\tvmovmi.f32 s2, s24\n\t"
        "vcmp.f32 s3, s24\n\tvmrs APSR_nzcv, fpscr\n\tit mi\n\tvmovmi.f32 s3, s24\n\t"
       
        "2:\n\t" TILEWRIGHT_FPU_EXP_OF("0", "1", "0", "1") TILEWRIGHT_FPU_EXP_OF("2", "3", "2", "3")
        "vadd.f32 s26, s26, s0\n\tvadd.f32 s26, s26, s1\n\tvadd.f32 s26, s26, s2\n\tvadd.f32 s26, s26, s3\n\t"
        "vstmia %[y]!, {s0-s3}\n\tsubs %[blocks], %[blocks], #1\n\tbne.w 1b\n\tvstr s26, [%[sums], #8]\n\t"
        : [x] "+r"(x), [y] "+r"(y), [blocks] "+r"(blocks), [numbers] "+r"(at)
        : [far] "r"(far), [sums] "r"(sums)
        : "cc", "memory", "r4", "r5", "r6", "r8", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11",
          "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27",
          "s28", "s29", "s30", "s31");
    return sums[2];
}

/* exp(x - largest) of any number of values into y; their sum. */
TILEWRIGHT_FLOAT float tilewright_fpu_raised(const float *x, float *y, int count, float largest)
{
    const int whole = count / 4 * 4;
    float total = 0.0f;
    if (whole > 0) {
        total = tilewright_fpu_powers(x, y, whole / 4, largest, total);
    }
    if (whole < count) {
        float rest[4];
        for (int i = 0; i < 4; i++) {
            rest[i] = whole + i < count ? x[whole + i] : -HUGE_VALF;
        }
        total = tilewright_fpu_powers(rest, rest, 1, largest, total);
        for (int i = whole; i < count; i++) {
            y[i] = rest[i - whole];
        }
    }
    return total;
}

/* y = x * factor, results `step` elements apart. */
TILEWRIGHT_FLOAT void tilewright_fpu_scaled(const float *x, float *y, int count, int step, float factor)
{
    int i = 0;
    for (; i < count - 3; i += 4) {
        const float a = x[i] * factor;
        const float b = x[i + 1] * factor;
        const float c = x[i + 2] * factor;
        const float d = x[i + 3] * factor;
        y[i * step] = a;
        y[(i + 1) * step] = b;
        y[(i + 2) * step] = c;
        y[(i + 3) * step] = d;
    }
    for (int rest = count % 4; rest > 0; rest--) {
        y[i * step] = x[i] * factor;
        i++;
    }
}

/* y = (x - largest) - logarithm, results `step` elements apart. */
TILEWRIGHT_FLOAT void tilewright_fpu_lowered(const float *x, float *y, int count, int step, float largest, float logarithm)
{
    int i = 0;
    for (; i < count - 3; i += 4) {
        const float a = (x[i] - largest) - logarithm;
        const float b = (x[i + 1] - largest) - logarithm;
        const float c = (x[i + 2] - largest) - logarithm;
        const float d = (x[i + 3] - largest) - logarithm;
        y[i * step] = a;
        y[(i + 1) * step] = b;
        y[(i + 2) * step] = c;
        y[(i + 3) * step] = d;
    }
    for (int rest = count % 4; rest > 0; rest--) {
        y[i * step] = (x[i] - largest) - logarithm;
        i++;
    }
}
