/* Functions of floats on cores with a single-precision unit, four values a turn: constants are loaded several at a time into
 * the registers in which their sums grow. It brings tilewright_fpu_sigmoid, tilewright_fpu_swish, tilewright_fpu_tanh,
 * tilewright_fpu_erf, tilewright_fpu_gelu, tilewright_fpu_gelu_tanh, tilewright_fpu_exp, tilewright_fpu_mish,
 * tilewright_fpu_softplus and tilewright_fpu_elu. */
#include <math.h>

#if !defined(__ARM_FP)
#error "these kernels need a core with a floating-point unit"
#endif

#define TILEWRIGHT_FPU_SIGMOID 0
#define TILEWRIGHT_FPU_SWISH 1
#define TILEWRIGHT_FPU_TANH 2
#define TILEWRIGHT_FPU_ERF 3
#define TILEWRIGHT_FPU_GELU 4
#define TILEWRIGHT_FPU_GELU_TANH 5
#define TILEWRIGHT_FPU_EXP 6
#define TILEWRIGHT_FPU_MISH 7
#define TILEWRIGHT_FPU_SOFTPLUS 8
#define TILEWRIGHT_FPU_ELU 9

/* Two values side by side: what stands in `to` is increased by `from` times the variable. */
#define TILEWRIGHT_FPU_STEP(to0, to1, from0, from1, by0, by1) \
    "vfma.f32 s" to0 ", s" from0 ", s" by0 "\n\tvfma.f32 s" to1 ", s" from1 ", s" by1 "\n\t"
#define TILEWRIGHT_FPU_BOTH(operation, to0, to1, a0, a1, b0, b1) \
    operation ".f32 s" to0 ", s" a0 ", s" b0 "\n\t" operation ".f32 s" to1 ", s" a1 ", s" b1 "\n\t"
/* Numerator and denominator from the highest power of the squares s4 and s5 on, in turn. */
#define TILEWRIGHT_FPU_QUOTIENT_FOUR \
    TILEWRIGHT_FPU_STEP("10", "11", "8", "8", "4", "5") TILEWRIGHT_FPU_STEP("12", "13", "9", "9", "4", "5") \
    TILEWRIGHT_FPU_STEP("14", "15", "10", "11", "4", "5") TILEWRIGHT_FPU_STEP("16", "17", "12", "13", "4", "5") \
    TILEWRIGHT_FPU_STEP("18", "19", "14", "15", "4", "5") TILEWRIGHT_FPU_STEP("20", "21", "16", "17", "4", "5") \
    TILEWRIGHT_FPU_STEP("22", "23", "18", "19", "4", "5") TILEWRIGHT_FPU_STEP("24", "25", "20", "21", "4", "5")
#define TILEWRIGHT_FPU_QUOTIENT_FIVE \
    TILEWRIGHT_FPU_QUOTIENT_FOUR \
    TILEWRIGHT_FPU_STEP("26", "27", "22", "23", "4", "5") TILEWRIGHT_FPU_STEP("28", "29", "24", "25", "4", "5")
/* s`x0` and s`x1` by an odd quotient of powers up to the ninth and the eighth, or the eleventh and the tenth. */
#define TILEWRIGHT_FPU_TANH_OF(x0, x1) \
    "vldmia %[numbers], {s8-s25}\n\t" TILEWRIGHT_FPU_BOTH("vmul", "4", "5", x0, x1, x0, x1) TILEWRIGHT_FPU_QUOTIENT_FOUR \
    TILEWRIGHT_FPU_BOTH("vmul", "22", "23", "22", "23", x0, x1) TILEWRIGHT_FPU_BOTH("vdiv", x0, x1, "22", "23", "24", "25")
#define TILEWRIGHT_FPU_ERF_OF(to0, to1, x0, x1) \
    "vldmia %[numbers], {s8-s19}\n\tadd r4, %[numbers], #48\n\tvldmia r4, {s20-s29}\n\t" \
    TILEWRIGHT_FPU_BOTH("vmul", "4", "5", x0, x1, x0, x1) TILEWRIGHT_FPU_QUOTIENT_FIVE \
    TILEWRIGHT_FPU_BOTH("vmul", "26", "27", "26", "27", x0, x1) TILEWRIGHT_FPU_BOTH("vdiv", to0, to1, "26", "27", "28", "29")
/* Half of x, and that times what stands in s`by0` and s`by1`. */
#define TILEWRIGHT_FPU_HALVED(x0, x1, by0, by1) \
    TILEWRIGHT_FPU_BOTH("vmul", x0, x1, x0, x1, "31", "31") TILEWRIGHT_FPU_STEP(x0, x1, x0, x1, by0, by1)
#define TILEWRIGHT_FPU_GELU_OF(x0, x1) \
    TILEWRIGHT_FPU_ERF_OF("26", "27", x0, x1) TILEWRIGHT_FPU_HALVED(x0, x1, "26", "27")
#define TILEWRIGHT_FPU_GELU_TANH_OF(x0, x1) \
    TILEWRIGHT_FPU_BOTH("vmul", "6", "7", x0, x1, x0, x1) TILEWRIGHT_FPU_BOTH("vmul", "6", "7", "6", "7", "29", "29") \
    TILEWRIGHT_FPU_BOTH("vadd", "6", "7", "6", "7", "30", "30") TILEWRIGHT_FPU_BOTH("vmul", "6", "7", "6", "7", x0, x1) \
    TILEWRIGHT_FPU_TANH_OF("6", "7") TILEWRIGHT_FPU_HALVED(x0, x1, "6", "7")
/* s19 and s20 become what s8 and s9, the exponent of a power of e, are multiplied by, less one and by what is left of x; s4 and
 * s5 are how often log 2 is taken off. The numbers are there. */
#define TILEWRIGHT_FPU_LOST_OF(x0, x1) \
    TILEWRIGHT_FPU_STEP("8", "9", x0, x1, "29", "29") \
    TILEWRIGHT_FPU_BOTH("vsub", "4", "5", "8", "9", "28", "28") "vmov r4, r5, s8, s9\n\t" \
    TILEWRIGHT_FPU_STEP(x0, x1, "4", "5", "30", "30") TILEWRIGHT_FPU_STEP(x0, x1, "4", "5", "31", "31") \
    "lsl r4, r4, #23\n\tlsl r5, r5, #23\n\tvmov s8, s9, r4, r5\n\t" \
    TILEWRIGHT_FPU_STEP("11", "12", "10", "10", x0, x1) TILEWRIGHT_FPU_STEP("13", "14", "11", "12", x0, x1) \
    TILEWRIGHT_FPU_STEP("15", "16", "13", "14", x0, x1) TILEWRIGHT_FPU_STEP("17", "18", "15", "16", x0, x1) \
    TILEWRIGHT_FPU_STEP("19", "20", "17", "18", x0, x1)
/* s21 and s22 times s8 and s9 become a power of e. */
#define TILEWRIGHT_FPU_POWER_OF(x0, x1) TILEWRIGHT_FPU_LOST_OF(x0, x1) TILEWRIGHT_FPU_STEP("21", "22", "19", "20", x0, x1)
#define TILEWRIGHT_FPU_EXP_OF(to0, to1, x0, x1) \
    "vldmia %[numbers], {s8-s22}\n\t" TILEWRIGHT_FPU_POWER_OF(x0, x1) TILEWRIGHT_FPU_BOTH("vmul", to0, to1, "21", "22", "8", "9")
/* `over` / (1 + exp(-x)). */
#define TILEWRIGHT_FPU_SHARE_OF(x0, x1, over0, over1) \
    "vldmia %[numbers], {s8-s24}\n\t" TILEWRIGHT_FPU_POWER_OF(x0, x1) TILEWRIGHT_FPU_STEP("23", "24", "21", "22", "8", "9") \
    TILEWRIGHT_FPU_BOTH("vdiv", x0, x1, over0, over1, "23", "24")
/* x * n / (n + 2) where n = w * (w + 2) and w = exp(x): x, kept in s6 and s7, times the hyperbolic tangent of log(1 + w). */
#define TILEWRIGHT_FPU_MISH_OF(x0, x1) \
    TILEWRIGHT_FPU_EXP_OF("21", "22", x0, x1) \
    TILEWRIGHT_FPU_BOTH("vadd", "4", "5", "21", "22", "27", "27") TILEWRIGHT_FPU_BOTH("vmul", "21", "22", "21", "22", "4", "5") \
    TILEWRIGHT_FPU_BOTH("vadd", "4", "5", "21", "22", "27", "27") TILEWRIGHT_FPU_BOTH("vmul", "21", "22", "21", "22", "6", "7") \
    TILEWRIGHT_FPU_BOTH("vdiv", x0, x1, "21", "22", "4", "5")
/* (x + |x|) times half the slope, and the depth times exp((x - |x|) / 2) - 1, which is a power of two less one and that by
 * what s19 and s20 say; x is kept in s6 and s7. */
#define TILEWRIGHT_FPU_ELU_OF(x0, x1) \
    "vabs.f32 s6, s" x0 "\n\tvabs.f32 s7, s" x1 "\n\tvldmia %[numbers], {s8-s22}\n\t" \
    TILEWRIGHT_FPU_BOTH("vadd", "23", "24", x0, x1, "6", "7") TILEWRIGHT_FPU_BOTH("vsub", x0, x1, x0, x1, "6", "7") \
    TILEWRIGHT_FPU_LOST_OF(x0, x1) TILEWRIGHT_FPU_BOTH("vmul", "19", "20", "19", "20", x0, x1) \
    TILEWRIGHT_FPU_BOTH("vsub", "21", "22", "8", "9", "21", "22") TILEWRIGHT_FPU_STEP("21", "22", "19", "20", "8", "9") \
    TILEWRIGHT_FPU_BOTH("vmul", x0, x1, "23", "24", "26", "26") TILEWRIGHT_FPU_STEP(x0, x1, "21", "22", "27", "27")
/* (x + |x|) / 2 + log(1 + u) where u = exp(-|x|), the logarithm by a quotient of powers of u. */
#define TILEWRIGHT_FPU_SOFTPLUS_OF(x0, x1) \
    "vabs.f32 s6, s" x0 "\n\tvabs.f32 s7, s" x1 "\n\t" TILEWRIGHT_FPU_BOTH("vadd", x0, x1, x0, x1, "6", "7") \
    TILEWRIGHT_FPU_EXP_OF("4", "5", "6", "7") "add r4, %[numbers], #60\n\tvldmia r4, {s8-s19}\n\t" \
    TILEWRIGHT_FPU_STEP("10", "11", "8", "8", "4", "5") TILEWRIGHT_FPU_STEP("12", "13", "9", "9", "4", "5") \
    TILEWRIGHT_FPU_STEP("14", "15", "10", "11", "4", "5") TILEWRIGHT_FPU_STEP("16", "17", "12", "13", "4", "5") \
    TILEWRIGHT_FPU_STEP("18", "19", "16", "17", "4", "5") TILEWRIGHT_FPU_BOTH("vmul", "14", "15", "14", "15", "4", "5") \
    TILEWRIGHT_FPU_BOTH("vdiv", "14", "15", "14", "15", "18", "19") TILEWRIGHT_FPU_BOTH("vmul", x0, x1, x0, x1, "27", "27") \
    TILEWRIGHT_FPU_BOTH("vadd", x0, x1, x0, x1, "14", "15")

#define TILEWRIGHT_FPU_OPERANDS \
    : [numbers] "+r"(at), [x] "+r"(x), [y] "+r"(y), [blocks] "+r"(blocks), [near] "+r"(near) \
    : [limit] "r"(limit) \
    : "cc", "memory", "r4", "r5", "r6", "r8", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", \
      "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", \
      "s30", "s31"
/* Four values a turn, before and behind the function; a block with one that reaches the limit, given as twice its bits less
 * one, is copied as it is, and so is one with no number. */
#define TILEWRIGHT_FPU_EACH_BLOCK \
    "1:\n\tldmia %[x], {r4, r5, r6, r8}\n\tcmp %[limit], r4, lsl #1\n\tittt hs\n\tcmphs %[limit], r5, lsl #1\n\t" \
    "cmphs %[limit], r6, lsl #1\n\tcmphs %[limit], r8, lsl #1\n\tadc %[near], %[near], %[near]\n\t" \
    "vldmia %[x]!, {s0-s3}\n\tblo.w 2f\n\t"
#define TILEWRIGHT_FPU_BLOCK_ENDS "2:\n\tvstmia %[y]!, {s0-s3}\n\tsubs %[blocks], %[blocks], #1\n\tbne.w 1b\n\t"
/* The pairs of a block, of which the operands are kept in s6 and s7. */
#define TILEWRIGHT_FPU_FIRST_PAIR "vldr d3, [%[x], #-16]\n\t"
#define TILEWRIGHT_FPU_SECOND_PAIR "vldr d3, [%[x], #-8]\n\t"

/* One block of four values and more; a bit for each, the last one lowest: whether all are below the limit and were computed.
 * The first numbers of some functions go to registers up to s31. */
static inline __attribute__((always_inline)) uint32_t tilewright_fpu_blocks(
    int function, const float *x, float *y, int blocks, uint32_t limit, const float *numbers)
{
    const float *at = numbers;
    uint32_t near = 0xFFFFFFFFu;
    switch (function) {
    case TILEWRIGHT_FPU_SIGMOID:
        __asm__ volatile("vldmia %[numbers]!, {s27-s31}\n\t" TILEWRIGHT_FPU_EACH_BLOCK
            TILEWRIGHT_FPU_SHARE_OF("0", "1", "27", "27") TILEWRIGHT_FPU_SHARE_OF("2", "3", "27", "27")
            TILEWRIGHT_FPU_BLOCK_ENDS TILEWRIGHT_FPU_OPERANDS);
        break;
    case TILEWRIGHT_FPU_SWISH:
        __asm__ volatile("vldmia %[numbers]!, {s27-s31}\n\t" TILEWRIGHT_FPU_EACH_BLOCK
            TILEWRIGHT_FPU_FIRST_PAIR TILEWRIGHT_FPU_SHARE_OF("0", "1", "6", "7") TILEWRIGHT_FPU_SECOND_PAIR TILEWRIGHT_FPU_SHARE_OF("2", "3", "6", "7")
            TILEWRIGHT_FPU_BLOCK_ENDS TILEWRIGHT_FPU_OPERANDS);
        break;
    case TILEWRIGHT_FPU_TANH:
        __asm__ volatile(TILEWRIGHT_FPU_EACH_BLOCK
            TILEWRIGHT_FPU_TANH_OF("0", "1") TILEWRIGHT_FPU_TANH_OF("2", "3")
            TILEWRIGHT_FPU_BLOCK_ENDS TILEWRIGHT_FPU_OPERANDS);
        break;
    case TILEWRIGHT_FPU_ERF:
        __asm__ volatile(TILEWRIGHT_FPU_EACH_BLOCK
            TILEWRIGHT_FPU_ERF_OF("0", "1", "0", "1") TILEWRIGHT_FPU_ERF_OF("2", "3", "2", "3")
            TILEWRIGHT_FPU_BLOCK_ENDS TILEWRIGHT_FPU_OPERANDS);
        break;
    case TILEWRIGHT_FPU_GELU:
        __asm__ volatile("vldmia %[numbers]!, {s31}\n\t" TILEWRIGHT_FPU_EACH_BLOCK
            TILEWRIGHT_FPU_GELU_OF("0", "1") TILEWRIGHT_FPU_GELU_OF("2", "3")
            TILEWRIGHT_FPU_BLOCK_ENDS TILEWRIGHT_FPU_OPERANDS);
        break;
    case TILEWRIGHT_FPU_EXP:
        __asm__ volatile("vldmia %[numbers]!, {s28-s31}\n\t" TILEWRIGHT_FPU_EACH_BLOCK
            TILEWRIGHT_FPU_EXP_OF("0", "1", "0", "1") TILEWRIGHT_FPU_EXP_OF("2", "3", "2", "3")
            TILEWRIGHT_FPU_BLOCK_ENDS TILEWRIGHT_FPU_OPERANDS);
        break;
    case TILEWRIGHT_FPU_MISH:
        __asm__ volatile("vldmia %[numbers]!, {s27-s31}\n\t" TILEWRIGHT_FPU_EACH_BLOCK
            TILEWRIGHT_FPU_FIRST_PAIR TILEWRIGHT_FPU_MISH_OF("0", "1") TILEWRIGHT_FPU_SECOND_PAIR TILEWRIGHT_FPU_MISH_OF("2", "3")
            TILEWRIGHT_FPU_BLOCK_ENDS TILEWRIGHT_FPU_OPERANDS);
        break;
    case TILEWRIGHT_FPU_SOFTPLUS:
        __asm__ volatile("vldmia %[numbers]!, {s27-s31}\n\t" TILEWRIGHT_FPU_EACH_BLOCK
            TILEWRIGHT_FPU_SOFTPLUS_OF("0", "1") TILEWRIGHT_FPU_SOFTPLUS_OF("2", "3")
            TILEWRIGHT_FPU_BLOCK_ENDS TILEWRIGHT_FPU_OPERANDS);
        break;
    case TILEWRIGHT_FPU_ELU:
        __asm__ volatile("vldmia %[numbers]!, {s26-s31}\n\t" TILEWRIGHT_FPU_EACH_BLOCK
            TILEWRIGHT_FPU_ELU_OF("0", "1") TILEWRIGHT_FPU_ELU_OF("2", "3")
            TILEWRIGHT_FPU_BLOCK_ENDS TILEWRIGHT_FPU_OPERANDS);
        break;
    default:
        __asm__ volatile("vldmia %[numbers]!, {s29-s31}\n\t" TILEWRIGHT_FPU_EACH_BLOCK
            TILEWRIGHT_FPU_GELU_TANH_OF("0", "1") TILEWRIGHT_FPU_GELU_TANH_OF("2", "3")
            TILEWRIGHT_FPU_BLOCK_ENDS TILEWRIGHT_FPU_OPERANDS);
        break;
    }
    return near;
}

/* One value that reaches the limit or is no number; `half` is the function of its half where that does not reach it. */
static inline __attribute__((always_inline)) float tilewright_fpu_end(
    int function, float a, float half, float limit, const float *numbers)
{
    const bool far = !(fabsf(a) < 2.0f * limit);
    const float below = function == TILEWRIGHT_FPU_TANH || function == TILEWRIGHT_FPU_ERF ? -1.0f : 0.0f;
    const float share = a > 0.0f ? 1.0f : a < 0.0f ? below : a;
    float value = a * share;
    if (function == TILEWRIGHT_FPU_SIGMOID || below != 0.0f) {
        value = share;
    } else if (function == TILEWRIGHT_FPU_ELU) {
        value = a < 0.0f ? -numbers[1] : 2.0f * numbers[0] * a;
    } else if (function == TILEWRIGHT_FPU_EXP) {
        value = !far ? half * half : a > 0.0f ? HUGE_VALF : share;
    } else if (function == TILEWRIGHT_FPU_SOFTPLUS && !(a > 0.0f)) {
        value = !far ? half * half : share;
    } else if (function == TILEWRIGHT_FPU_MISH && a < 0.0f && !far) {
        value = half / a * half * 4.0f;
    } else {
        /* as it is */
    }
    return value;
}

/* Up to four values by a copy, each below the limit or not. */
static inline __attribute__((always_inline)) void tilewright_fpu_copied(
    int function, const float *x, float *y, int count, float limit, const float *numbers)
{
    float given[4];
    float found[4];
    for (int i = 0; i < 4; i++) {
        const float a = i < count ? x[i] : 0.0f;
        given[i] = fabsf(a) < limit ? a : fabsf(a) < 2.0f * limit ? 0.5f * a : 0.0f;
    }
    (void)tilewright_fpu_blocks(function, given, found, 1, 0xFFFFFFFFu, numbers);
    for (int i = 0; i < 4 && i < count; i++) {
        y[i] = fabsf(x[i]) < limit ? found[i] : tilewright_fpu_end(function, x[i], found[i], limit, numbers);
    }
}

/* Any number of values: those of a block with an end, and of one that is not full, go by a copy. */
static inline __attribute__((always_inline)) void tilewright_fpu_function(
    int function, const float *x, float *y, int count, float limit, const float *numbers)
{
    const union {
        float value;
        uint32_t bits;
    } number = {limit};
    for (int i = 0; i < count; i += 128) {
        const int some = count - i < 128 ? count - i : 128;
        uint32_t near = 0xFFFFFFFFu;
        if (some >= 4) {
            near = tilewright_fpu_blocks(function, &x[i], &y[i], some / 4, 2u * number.bits - 1u, numbers);
        }
        if (near == 0xFFFFFFFFu && some % 4 == 0) {
            continue;
        }
        for (int n = i; n < i + some; n += 4) {
            const int left = i + some - n;
            const int place = left / 4 - 1;
            if (left < 4 || (near >> (unsigned)place & 1u) == 0u) {
                tilewright_fpu_copied(function, left < 4 ? &x[n] : &y[n], &y[n], left, limit, numbers);
            }
        }
    }
}

/* What stays in registers, and exp(-r) as in the portable kernel; 1.5 * 2^23 + 127 has the exponent of 1 in its lowest bits. */
#define TILEWRIGHT_FPU_EXPONENTIAL \
    {1.0f, 12583039.0f, -1.442695041f, 0.693359375f, -2.12194440e-4f, 12583039.0f, 12583039.0f, 0.0013882514322176576f, \
        -0.008366547524929047f, -0.008366547524929047f, 0.04166720062494278f, 0.04166720062494278f, -0.1666654348373413f, \
        -0.1666654348373413f, 0.4999999701976776f, 0.4999999701976776f, -1.0f, -1.0f, 1.0f, 1.0f, 1.0f, 1.0f}

TILEWRIGHT_FLOAT void tilewright_fpu_sigmoid(const float *x, float *y, int count)
{
    static const float numbers[22] = TILEWRIGHT_FPU_EXPONENTIAL;
    tilewright_fpu_function(TILEWRIGHT_FPU_SIGMOID, x, y, count, 88.0f, numbers);
}

TILEWRIGHT_FLOAT void tilewright_fpu_swish(const float *x, float *y, int count)
{
    static const float numbers[22] = TILEWRIGHT_FPU_EXPONENTIAL;
    tilewright_fpu_function(TILEWRIGHT_FPU_SWISH, x, y, count, 88.0f, numbers);
}

/* tanh(t) = t * numerator / denominator, powers of t^2, up to 8.1, from where on it is 1: within 3.1e-7 of itself, never
 * above 1 (all floats were tried), and so is erf within 3.6e-7 up to 3.67. */
#define TILEWRIGHT_FPU_TANH_NUMBERS \
    1.4943628556807198e-08f, 8.408528628933709e-07f, 2.1697922420571558e-05f, 2.1697922420571558e-05f, \
        0.00033919853740371764f, 0.00033919853740371764f, 0.0035598650574684143f, 0.0035598650574684143f, \
        0.026119891554117203f, 0.026119891554117203f, 0.1343463808298111f, 0.1343463808298111f, 0.46767961978912354f, \
        0.46767961978912354f, 1.0f, 1.0f, 1.0f, 1.0f

TILEWRIGHT_FLOAT void tilewright_fpu_tanh(const float *x, float *y, int count)
{
    static const float numbers[18] = {TILEWRIGHT_FPU_TANH_NUMBERS};
    tilewright_fpu_function(TILEWRIGHT_FPU_TANH, x, y, count, 8.1f, numbers);
}

TILEWRIGHT_FLOAT void tilewright_fpu_gelu_tanh(const float *x, float *y, int count)
{
    static const float numbers[21] = {0.0356774069f, 0.797884583f, 0.5f, TILEWRIGHT_FPU_TANH_NUMBERS};
    tilewright_fpu_function(TILEWRIGHT_FPU_GELU_TANH, x, y, count, 4.89f, numbers);
}

TILEWRIGHT_FLOAT void tilewright_fpu_erf(const float *x, float *y, int count)
{
    static const float numbers[22] = {2.2679184894514037e-06f, 4.0552185964770615e-05f, 0.0002893731580115855f,
        0.0002893731580115855f, 0.0011119464179500937f, 0.0011119464179500937f, 0.0034763114526867867f,
        0.0034763114526867867f, 0.014393283054232597f, 0.014393283054232597f, 0.05192653834819794f,
        0.05192653834819794f, 0.11097525805234909f, 0.11097525805234909f, 0.1822708547115326f, 0.1822708547115326f,
        0.49486643075942993f, 0.49486643075942993f, 1.1283791065216064f, 1.1283791065216064f, 1.0f, 1.0f};
    tilewright_fpu_function(TILEWRIGHT_FPU_ERF, x, y, count, 3.67f, numbers);
}

/* The error function of x / sqrt(2), whose coefficients have the powers of that in them. */
TILEWRIGHT_FLOAT void tilewright_fpu_gelu(const float *x, float *y, int count)
{
    static const float numbers[23] = {0.5f, 5.011439085933489e-08f, 1.2672558113990817e-06f,
        1.278860781894764e-05f, 1.278860781894764e-05f, 6.949665112188086e-05f, 6.949665112188086e-05f, 0.0003072654362767935f,
        0.0003072654362767935f, 0.0017991603817790747f, 0.0017991603817790747f, 0.009179402142763138f,
        0.009179402142763138f, 0.027743814513087273f, 0.027743814513087273f, 0.064442478120327f, 0.064442478120327f,
        0.24743321537971497f, 0.24743321537971497f, 0.7978845238685608f, 0.7978845238685608f, 1.0f, 1.0f};
    tilewright_fpu_function(TILEWRIGHT_FPU_GELU, x, y, count, 5.19f, numbers);
}

/* exp(x) as in the portable kernel, for x of both signs. */
#define TILEWRIGHT_FPU_RAISED \
    12583039.0f, 1.442695041f, -0.693359375f, 2.12194440e-4f, 12583039.0f, 12583039.0f, 0.0013882514322176576f, \
        0.008366547524929047f, 0.008366547524929047f, 0.04166720062494278f, 0.04166720062494278f, 0.1666654348373413f, \
        0.1666654348373413f, 0.4999999701976776f, 0.4999999701976776f, 1.0f, 1.0f, 1.0f, 1.0f

TILEWRIGHT_FLOAT void tilewright_fpu_exp(const float *x, float *y, int count)
{
    static const float numbers[19] = {TILEWRIGHT_FPU_RAISED};
    tilewright_fpu_function(TILEWRIGHT_FPU_EXP, x, y, count, 87.0f, numbers);
}

TILEWRIGHT_FLOAT void tilewright_fpu_mish(const float *x, float *y, int count)
{
    static const float numbers[20] = {2.0f, TILEWRIGHT_FPU_RAISED};
    tilewright_fpu_function(TILEWRIGHT_FPU_MISH, x, y, count, 40.0f, numbers);
}

/* Half the slope above zero and the depth below; then exp of halves, whose coefficients have powers of a half in them. */
#define TILEWRIGHT_FPU_ELU_NUMBERS(half_slope, depth) \
    {(half_slope), (depth), 12583039.0f, 0.7213475205f, -1.38671875f, 4.24388880e-4f, 12583039.0f, 12583039.0f, \
        2.1691428628400899e-05f, 0.00026145461015403271f, 0.00026145461015403271f, 0.0026042000390589237f, \
        0.0026042000390589237f, 0.020833179354667664f, 0.020833179354667664f, 0.12499999254941940f, 0.12499999254941940f, \
        0.5f, 0.5f, 1.0f, 1.0f}

TILEWRIGHT_FLOAT void tilewright_fpu_elu(const float *x, float *y, int count, const float *numbers)
{
    tilewright_fpu_function(TILEWRIGHT_FPU_ELU, x, y, count, 87.0f, numbers);
}

/* log(1 + u) = u * numerator / denominator within 1.9e-8 of itself for u up to 1. */
TILEWRIGHT_FLOAT void tilewright_fpu_softplus(const float *x, float *y, int count)
{
    static const float numbers[32] = {0.5f, 12583039.0f, -1.442695041f, 0.693359375f, -2.12194440e-4f, 12583039.0f, 12583039.0f,
        0.0013882514322176576f, -0.008366547524929047f, -0.008366547524929047f, 0.04166720062494278f, 0.04166720062494278f,
        -0.1666654348373413f, -0.1666654348373413f, 0.4999999701976776f, 0.4999999701976776f, -1.0f, -1.0f, 1.0f, 1.0f,
        0.12376434355974197f, 0.031094558537006378f, 0.8671935796737671f, 0.8671935796737671f, 0.47405895590782166f,
        0.47405895590782166f, 1.0f, 1.0f, 1.3671916723251343f, 1.3671916723251343f, 1.0f, 1.0f};
    tilewright_fpu_function(TILEWRIGHT_FPU_SOFTPLUS, x, y, count, 40.0f, numbers);
}
