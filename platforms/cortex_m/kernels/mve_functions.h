/* Functions of four floats (Helium): one exponential of a number that is not positive, one reciprocal, no call. It brings
 * tilewright_mve_sigmoid, tilewright_mve_swish, tilewright_mve_tanh, tilewright_mve_gelu_tanh, tilewright_mve_erf,
 * tilewright_mve_gelu, tilewright_mve_elu, tilewright_mve_selu and tilewright_mve_exponential. */
#include <math.h>

#define TILEWRIGHT_MVE_SIGN ((uint32_t)1 << 31)

/* `yes` where `t` is below zero, else `no`. Compilers move the predicate through a register; `lt` would hold for what is no
 * number too. */
TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_where_negative(float32x4_t t, float32x4_t yes, float32x4_t no)
{
    float32x4_t chosen;
    __asm__("vcmp.f32 gt, %q4, %q1\n\tvpsel %q0, %q2, %q3"
            : "=t"(chosen)
            : "t"(t), "t"(yes), "t"(no), "t"(vdupq_n_f32(0.0f))
            : "p0");
    return chosen;
}

/* The value where `t` is a number, else `t`. */
TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_where_number(float32x4_t t, float32x4_t value)
{
    float32x4_t chosen;
    __asm__("vcmp.f32 eq, %q1, %q1\n\tvpsel %q0, %q2, %q1" : "=t"(chosen) : "t"(t), "t"(value) : "p0");
    return chosen;
}

TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_minus(float32x4_t t)
{
    return vreinterpretq_f32_u32(vorrq_u32(vreinterpretq_u32_f32(t), vdupq_n_u32(TILEWRIGHT_MVE_SIGN)));
}

TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_signed_as(float32x4_t t, float32x4_t value)
{
    const uint32x4_t sign = vandq_u32(vreinterpretq_u32_f32(t), vdupq_n_u32(TILEWRIGHT_MVE_SIGN));
    return vreinterpretq_f32_u32(vorrq_u32(vreinterpretq_u32_f32(value), sign));
}

/* exp(power) = scale + scale * curve for what has a sign and is no more than zero; below -88, and for what is no number, it
 * is that of -88. */
TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_curve(float32x4_t power, float32x4_t *scale)
{
    const uint32x4_t farthest = vdupq_n_u32(0xc2b00000u);
    const float32x4_t limited = vreinterpretq_f32_u32(vminq_u32(vreinterpretq_u32_f32(power), farthest));
    const float32x4_t whole = vrndnq_f32(vmulq_n_f32(limited, 1.442695041f));
    const float32x4_t rest = vfmaq_n_f32(vfmaq_n_f32(limited, whole, -0.693359375f), whole, 2.12194440e-4f);
    float32x4_t curve = vfmasq_n_f32(vdupq_n_f32(0.0013882514322176576f), rest, 0.008366547524929047f);
    curve = vfmasq_n_f32(curve, rest, 0.04166720062494278f);
    curve = vfmasq_n_f32(curve, rest, 0.1666654348373413f);
    curve = vfmasq_n_f32(curve, rest, 0.4999999701976776f);
    *scale = vreinterpretq_f32_s32(vshlq_n_s32(vaddq_n_s32(vcvtq_s32_f32(whole), 127), 23));
    return vfmaq_f32(rest, vmulq_f32(curve, rest), rest);
}

TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_exponential(float32x4_t power)
{
    float32x4_t scale;
    const float32x4_t curve = tilewright_mve_curve(power, &scale);
    return vfmaq_f32(scale, scale, curve);
}

/* exp(power) - 1. */
TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_lost(float32x4_t power)
{
    float32x4_t scale;
    const float32x4_t curve = tilewright_mve_curve(power, &scale);
    return vfmaq_f32(vaddq_n_f32(scale, -1.0f), scale, curve);
}

/* 1 / value for values from 1 to 2: a parabola, and two steps that square its error. */
TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_reciprocal(float32x4_t value)
{
    const float32x4_t one = vdupq_n_f32(1.0f);
    float32x4_t near = vfmasq_n_f32(vdupq_n_f32(0.3298969f), value, -1.4845361f);
    near = vfmasq_n_f32(near, value, 2.1494845f);
    near = vfmaq_f32(near, near, vfmsq_f32(one, near, value));
    return vfmaq_f32(near, near, vfmsq_f32(one, near, value));
}

TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_share(float32x4_t t)
{
    const float32x4_t left = tilewright_mve_exponential(tilewright_mve_minus(t));
    const float32x4_t above = tilewright_mve_where_negative(t, left, vdupq_n_f32(1.0f));
    return vmulq_f32(above, tilewright_mve_reciprocal(vaddq_n_f32(left, 1.0f)));
}

TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_sigmoid(float32x4_t a)
{
    return tilewright_mve_where_number(a, tilewright_mve_share(a));
}

TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_swish(float32x4_t a, float p)
{
    const float32x4_t t = vmulq_n_f32(a, p);
    return vmulq_f32(a, tilewright_mve_where_number(t, tilewright_mve_share(t)));
}

TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_tanh(float32x4_t a)
{
    const float32x4_t lost = tilewright_mve_lost(vmulq_n_f32(tilewright_mve_minus(a), 2.0f));
    const float32x4_t size = vmulq_f32(vnegq_f32(lost), tilewright_mve_reciprocal(vaddq_n_f32(lost, 2.0f)));
    return tilewright_mve_where_number(a, tilewright_mve_signed_as(a, size));
}

TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_gelu_tanh(float32x4_t a)
{
    const float32x4_t cubic = vmulq_f32(vmulq_f32(vmulq_n_f32(a, 0.0447149985f), a), a);
    const float32x4_t curve = tilewright_mve_tanh(vmulq_n_f32(vaddq_f32(a, cubic), 0.797884583f));
    return vmulq_f32(vmulq_n_f32(a, 0.5f), vaddq_n_f32(curve, 1.0f));
}

/* 1 - exp of a polynomial of `t` without its sign, which is exact up to where it is 1. */
TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_erf(float32x4_t t)
{
    const uint32x4_t end = vdupq_n_u32(0x407ccccdu);
    const float32x4_t size = vabsq_f32(t);
    const float32x4_t near = vreinterpretq_f32_u32(vminq_u32(vreinterpretq_u32_f32(size), end));
    float32x4_t power = vfmasq_n_f32(vdupq_n_f32(4.070773138664663e-05f), near, -0.00038099917583167553f);
    power = vfmasq_n_f32(power, near, 0.0012517423601821065f);
    power = vfmasq_n_f32(power, near, 0.0002057222736766562f);
    power = vfmasq_n_f32(power, near, -0.01932172104716301f);
    power = vfmasq_n_f32(power, near, 0.10281441360712051f);
    power = vfmasq_n_f32(power, near, 0.6366164684295654f);
    power = vfmasq_n_f32(power, near, 1.128379225730896f);
    const float32x4_t lost = tilewright_mve_lost(vnegq_f32(vmulq_f32(power, near)));
    return tilewright_mve_where_number(t, tilewright_mve_signed_as(t, vabsq_f32(lost)));
}

TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_gelu(float32x4_t a)
{
    const float32x4_t curve = tilewright_mve_erf(vmulq_n_f32(a, 0.707106769f));
    return vmulq_f32(vmulq_n_f32(a, 0.5f), vaddq_n_f32(curve, 1.0f));
}

TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_elu(float32x4_t a, float p)
{
    return tilewright_mve_where_negative(a, vmulq_n_f32(tilewright_mve_lost(tilewright_mve_minus(a)), p), a);
}

TILEWRIGHT_MVE_INTO float32x4_t tilewright_mve_selu(float32x4_t a, float p, float q)
{
    return vmulq_n_f32(tilewright_mve_elu(a, p), q);
}
