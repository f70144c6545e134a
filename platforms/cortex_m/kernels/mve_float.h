/* Float products in vectors of four channels (Helium): four pixels by four channels, or one row by eight, each sum in the
 * order of its inputs. Inputs come several at a time into scalar registers. It brings tilewright_mve_interleave,
 * tilewright_mve_interleave_by, tilewright_mve_place, tilewright_mve_float_block, tilewright_mve_float_lines,
 * tilewright_mve_float_eight, tilewright_mve_float_four, and limits. */
#include <math.h>

/* Interleaves `count` inputs of four pixels: [input][pixel]. */
TILEWRIGHT_MVE float *tilewright_mve_interleave(const float *const *sources, float *to, int count)
{
    __asm__ volatile(
        "vldrw.32 q0, [%[sources]]\n\tvsub.i32 q0, q0, %[step]\n\twls lr, %[fours], 2f\n\t"
        "1:\n\tvldrw.u32 q1, [q0, #4]!\n\tvldrw.u32 q2, [q0, #4]!\n\tvstrw.32 q1, [%[to]], #16\n\tvstrw.32 q2, [%[to]], #16\n\t"
        "vldrw.u32 q1, [q0, #4]!\n\tvldrw.u32 q2, [q0, #4]!\n\tvstrw.32 q1, [%[to]], #16\n\tvstrw.32 q2, [%[to]], #16\n\t"
        "le lr, 1b\n\t2:\n\twls lr, %[rest], 4f\n\t"
        "3:\n\tvldrw.u32 q1, [q0, #4]!\n\tvstrw.32 q1, [%[to]], #16\n\tle lr, 3b\n\t4:\n\t"
        : [to] "+r"(to)
        : [sources] "r"(sources), [step] "r"(4), [fours] "r"((uint32_t)count / 4u), [rest] "r"((uint32_t)count % 4u)
        : "memory", "lr", "q0", "q1", "q2");
    return to;
}

/* The same where each pixel's inputs lie `steps` bytes apart. */
TILEWRIGHT_MVE float *tilewright_mve_interleave_by(const float *const *sources, const int32_t *steps, float *to, int count)
{
    __asm__ volatile(
        "vldrw.32 q0, [%[sources]]\n\tvldrw.32 q2, [%[steps]]\n\twls lr, %[count], 2f\n\t"
        "1:\n\tvldrw.u32 q1, [q0]\n\tvadd.i32 q0, q0, q2\n\tvstrw.32 q1, [%[to]], #16\n\tle lr, 1b\n\t2:\n\t"
        : [to] "+r"(to)
        : [sources] "r"(sources), [steps] "r"(steps), [count] "r"(count)
        : "memory", "lr", "q0", "q1", "q2");
    return to;
}

/* Copies floats that lie `apart` from each other to places `step` floats from each other. */
TILEWRIGHT_MVE void tilewright_mve_place(const float *from, int apart, float *to, int step, int count)
{
    const uint32x4_t lanes = vidupq_n_u32(0, 1);
    const uint32x4_t read = vmulq_n_u32(lanes, (uint32_t)apart);
    const uint32x4_t written = vmulq_n_u32(lanes, (uint32_t)step);
    for (; count > 0; count -= 4) {
        const mve_pred16_t left = vctp32q((uint32_t)count);
        const float32x4_t four = vldrwq_gather_shifted_offset_z_f32(from, read, left);
        vstrwq_scatter_shifted_offset_p_f32(to, written, four, left);
        from = &from[4 * apart];
        to = &to[4 * step];
    }
}

#define TILEWRIGHT_MVE_FLOAT_INPUT(q) \
    "ldm %[x]!, {r0, r1, r2, r3}\n\tvldrw.32 %q[" q "], [%[w]], #16\n\tvfma.f32 %q[s0], %q[" q "], r0\n\t" \
    "vfma.f32 %q[s1], %q[" q "], r1\n\tvfma.f32 %q[s2], %q[" q "], r2\n\tvfma.f32 %q[s3], %q[" q "], r3\n\t"

/* Sums of four pixels times four channels; inputs lie [input][pixel], weights [input][channel] behind four starts. Returns
 * what follows the weights. */
TILEWRIGHT_MVE_INTO const float *tilewright_mve_float_block(const float *x, const float *w, int inputs, float32x4_t sums[4])
{
    float32x4_t s0, s1, s2, s3, p, o;
    __asm__ volatile(
        "vldrw.32 %q[s0], [%[w]], #16\n\tvmov %q[s1], %q[s0]\n\tvmov %q[s2], %q[s0]\n\tvmov %q[s3], %q[s0]\n\t"
        "lsr r0, %[n], #2\n\twls lr, r0, 2f\n\t1:\n\t"
        TILEWRIGHT_MVE_FLOAT_INPUT("p") TILEWRIGHT_MVE_FLOAT_INPUT("o") TILEWRIGHT_MVE_FLOAT_INPUT("p")
        TILEWRIGHT_MVE_FLOAT_INPUT("o") "le lr, 1b\n\t2:\n\tand r0, %[n], #3\n\twls lr, r0, 4f\n\t3:\n\t"
        TILEWRIGHT_MVE_FLOAT_INPUT("p") "le lr, 3b\n\t4:\n\t"
        : [s0] "=&t"(s0), [s1] "=&t"(s1), [s2] "=&t"(s2), [s3] "=&t"(s3), [p] "=&t"(p), [o] "=&t"(o), [x] "+r"(x),
          [w] "+r"(w)
        : [n] "r"(inputs)
        : "memory", "r0", "r1", "r2", "r3", "lr");
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
    return w;
}

#define TILEWRIGHT_MVE_FLOAT_LINE(sum, line) \
    "ldm %[" line "]!, {r0, r1, r2, r3}\n\tvfma.f32 %q[" sum "], %q[w0], r0\n\tvfma.f32 %q[" sum "], %q[w1], r1\n\t" \
    "vfma.f32 %q[" sum "], %q[w2], r2\n\tvfma.f32 %q[" sum "], %q[w3], r3\n\t"
#define TILEWRIGHT_MVE_FLOAT_ONE(sum, line) "ldr r0, [%[" line "]], #4\n\tvfma.f32 %q[" sum "], %q[w0], r0\n\t"

/* The same of four lines of inputs side by side, each where it lies. */
TILEWRIGHT_MVE_INTO const float *tilewright_mve_float_lines(
    const float *const lines[4], const float *w, int inputs, float32x4_t sums[4])
{
    const float *l0 = lines[0], *l1 = lines[1], *l2 = lines[2], *l3 = lines[3];
    float32x4_t s0, s1, s2, s3, w0, w1, w2, w3;
    __asm__ volatile(
        "vldrw.32 %q[s0], [%[w]], #16\n\tvmov %q[s1], %q[s0]\n\tvmov %q[s2], %q[s0]\n\tvmov %q[s3], %q[s0]\n\t"
        "lsr r0, %[n], #2\n\twls lr, r0, 2f\n\t1:\n\t"
        "vldrw.32 %q[w0], [%[w]], #16\n\tvldrw.32 %q[w1], [%[w]], #16\n\tvldrw.32 %q[w2], [%[w]], #16\n\t"
        "vldrw.32 %q[w3], [%[w]], #16\n\t" TILEWRIGHT_MVE_FLOAT_LINE("s0", "l0") TILEWRIGHT_MVE_FLOAT_LINE("s1", "l1")
        TILEWRIGHT_MVE_FLOAT_LINE("s2", "l2") TILEWRIGHT_MVE_FLOAT_LINE("s3", "l3")
        "le lr, 1b\n\t2:\n\tand r0, %[n], #3\n\twls lr, r0, 4f\n\t3:\n\tvldrw.32 %q[w0], [%[w]], #16\n\t"
        TILEWRIGHT_MVE_FLOAT_ONE("s0", "l0") TILEWRIGHT_MVE_FLOAT_ONE("s1", "l1") TILEWRIGHT_MVE_FLOAT_ONE("s2", "l2")
        TILEWRIGHT_MVE_FLOAT_ONE("s3", "l3") "le lr, 3b\n\t4:\n\t"
        : [s0] "=&t"(s0), [s1] "=&t"(s1), [s2] "=&t"(s2), [s3] "=&t"(s3), [w0] "=&t"(w0), [w1] "=&t"(w1),
          [w2] "=&t"(w2), [w3] "=&t"(w3), [l0] "+r"(l0), [l1] "+r"(l1), [l2] "+r"(l2), [l3] "+r"(l3), [w] "+r"(w)
        : [n] "r"(inputs)
        : "memory", "r0", "r1", "r2", "r3", "lr");
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
    return w;
}

#define TILEWRIGHT_MVE_FLOAT_EIGHT(x) \
    "vldrw.32 %q[p], [%[w]], #16\n\tvldrw.32 %q[o], [%[w]], #16\n\t" \
    "vfma.f32 %q[s0], %q[p], " x "\n\tvfma.f32 %q[s1], %q[o], " x "\n\t"
#define TILEWRIGHT_MVE_FLOAT_FOUR(x) "vldrw.32 %q[p], [%[w]], #16\n\tvfma.f32 %q[s0], %q[p], " x "\n\t"
#define TILEWRIGHT_MVE_FLOAT_ROW(input) \
    "lsr r0, %[n], #2\n\twls lr, r0, 2f\n\t1:\n\tldm %[x]!, {r0, r1, r2, r3}\n\t" input("r0") input("r1") input("r2") input("r3") \
    "le lr, 1b\n\t2:\n\tand r0, %[n], #3\n\twls lr, r0, 4f\n\t3:\n\tldr r0, [%[x]], #4\n\t" input("r0") "le lr, 3b\n\t4:\n\t"

/* Sums of one row times eight columns, or four; weights [input][column] behind as many starts. Returns what follows them. */
TILEWRIGHT_MVE_INTO const float *tilewright_mve_float_eight(const float *x, const float *w, int inputs, float32x4_t sums[2])
{
    float32x4_t s0, s1, p, o;
    __asm__ volatile(
        "vldrw.32 %q[s0], [%[w]], #16\n\tvldrw.32 %q[s1], [%[w]], #16\n\t"
        TILEWRIGHT_MVE_FLOAT_ROW(TILEWRIGHT_MVE_FLOAT_EIGHT)
        : [s0] "=&t"(s0), [s1] "=&t"(s1), [p] "=&t"(p), [o] "=&t"(o), [x] "+r"(x), [w] "+r"(w)
        : [n] "r"(inputs)
        : "memory", "r0", "r1", "r2", "r3", "lr");
    sums[0] = s0;
    sums[1] = s1;
    return w;
}

TILEWRIGHT_MVE_INTO const float *tilewright_mve_float_four(const float *x, const float *w, int inputs, float32x4_t *sums)
{
    float32x4_t s0, p;
    __asm__ volatile(
        "vldrw.32 %q[s0], [%[w]], #16\n\t" TILEWRIGHT_MVE_FLOAT_ROW(TILEWRIGHT_MVE_FLOAT_FOUR)
        : [s0] "=&t"(s0), [p] "=&t"(p), [x] "+r"(x), [w] "+r"(w)
        : [n] "r"(inputs)
        : "memory", "r0", "r1", "r2", "r3", "lr");
    *sums = s0;
    return w;
}

/* Zero for negative values, as the bits say it. */
TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_rectified(float32x4_t value)
{
    return vreinterpretq_f32_s32(vmaxq_s32(vreinterpretq_s32_f32(value), vdupq_n_s32(0)));
}

/* Limits as the scalar C has them: what is not a number stays (`lt` would hold for it). Compilers move the predicate through
 * a register. */
TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_at_most(float32x4_t value, float high)
{
    __asm__("vcmp.f32 gt, %q0, %1\n\tvpsel %q0, %q2, %q0" : "+t"(value) : "r"(high), "t"(vdupq_n_f32(high)) : "p0");
    return value;
}

TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_at_least(float32x4_t value, float low)
{
    __asm__("vcmp.f32 gt, %q1, %q0\n\tvpsel %q0, %q1, %q0" : "+t"(value) : "t"(vdupq_n_f32(low)) : "p0");
    return value;
}

/* A value whose origin the compiler forgets, so that pointers walk. */
#define TILEWRIGHT_MVE_FORGET(value) __asm__("" : "+r"(value))
