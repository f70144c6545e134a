/* Floats of sixteen bits: how their elements lie in memory, and conversions from and to float.
 * This file is generated for you and is yours: no licence notice is asked for. */
#ifndef TILEWRIGHT_HALVES_H
#define TILEWRIGHT_HALVES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* float16 is the compiler's own type where it has one, else its bits; -DTILEWRIGHT_F16_BITS asks for bits everywhere.
 * Both give the same results. gcc before 13 has the type in C++ for x86 alone. */
#if defined(__FLT16_MANT_DIG__) && !defined(TILEWRIGHT_F16_BITS)
#if !defined(__cplusplus) || defined(__clang__) || __GNUC__ >= 13 || defined(__SSE2__)
#define TILEWRIGHT_F16_NATIVE
#endif
#endif
#ifdef TILEWRIGHT_F16_NATIVE
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#endif
typedef _Float16 tilewright_f16;
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#else
typedef uint16_t tilewright_f16;
#endif

/* bfloat16 is its bits, the upper half of those of a float. */
typedef uint16_t tilewright_bf16;

/* The value of a half float. */
static inline float tilewright_f16_to_float(tilewright_f16 half)
{
#ifdef TILEWRIGHT_F16_NATIVE
    return (float)half;
#else
    const uint32_t size = half & 0x7fffu;
    uint32_t bits;
    float value;
    if (size - 0x0400u < 0x7800u) {
        bits = (size << 13) + 0x38000000u;
    } else if (size < 0x0400u) { /* steps of 2^-24 */
        value = (float)size * 5.9604644775390625e-8f;
        memcpy(&bits, &value, sizeof bits);
    } else {
        bits = 0x7f800000u | (size << 13) | (size > 0x7c00u ? 0x00400000u : 0u);
    }
    bits |= (uint32_t)(half & 0x8000u) << 16;
    memcpy(&value, &bits, sizeof value);
    return value;
#endif
}

/* The half float nearest to a number, the even one of two. */
static inline tilewright_f16 tilewright_f16_of_float(float value)
{
#ifdef TILEWRIGHT_F16_NATIVE
    return (tilewright_f16)value;
#else
    uint32_t bits, size, half;
    memcpy(&bits, &value, sizeof bits);
    size = bits & 0x7fffffffu;
    if (size - 0x38800000u < 0x0f000000u) { /* what rounds up to 65536 becomes infinity by itself */
        half = (size - 0x38000000u + 0x0fffu + (size >> 13 & 1u)) >> 13;
    } else if (size < 0x33000000u) {
        half = 0;
    } else if (size < 0x38800000u) { /* steps of 2^-24 */
        const uint32_t shift = 126u - (size >> 23), digits = (size & 0x007fffffu) | 0x00800000u;
        half = digits >> shift;
        half += (digits & ((1u << shift) - 1u)) + (half & 1u) > (1u << (shift - 1u)) ? 1u : 0u;
    } else {
        half = size > 0x7f800000u ? 0x7e00u | (size >> 13 & 0x03ffu) : 0x7c00u;
    }
    return (tilewright_f16)(half | (bits >> 16 & 0x8000u));
#endif
}

/* The half float nearest to a number, rounded once: on the way a float that is inexact gets an odd last digit. */
static inline tilewright_f16 tilewright_f16_of_double(double value)
{
#ifdef TILEWRIGHT_F16_NATIVE
    return (tilewright_f16)value;
#else
    float near = (float)value;
    uint32_t bits;
    memcpy(&bits, &near, sizeof bits);
    if ((double)near < value || (double)near > value) {
        if ((bits & 1u) == 0) {
            bits += fabs((double)near) < fabs(value) ? 1u : 0xffffffffu;
        }
        memcpy(&near, &bits, sizeof near);
    }
    return tilewright_f16_of_float(near);
#endif
}

/* The value of a bfloat16: the upper half of a float. */
static inline float tilewright_bf16_to_float(tilewright_bf16 half)
{
    const uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The bfloat16 nearest to a number, the even one of two. */
static inline tilewright_bf16 tilewright_bf16_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return (tilewright_bf16)(bits >> 16 | 0x0040u);
    }
    return (tilewright_bf16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

#ifdef __cplusplus
}
#endif

#endif
