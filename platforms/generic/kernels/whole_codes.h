/* Codes of floats by a step that is known at run time, where there is no float unit. */

/* The least float, 0 or below, and the greatest, 0 or above, as their bits, which have the order of floats of one sign; above
 * those of infinity where one is no number. */
typedef struct {
    uint32_t least;
    int32_t greatest;
} tilewright_whole_range;

static inline tilewright_whole_range tilewright_whole_range_of(const float *x, int count)
{
    tilewright_whole_range range = {0x80000000u, 0};
    for (int i = 0; i < count; i++) {
        const uint32_t bits = tilewright_whole_bits(x + i);
        range.least = bits > range.least ? bits : range.least;
        range.greatest = (int32_t)bits > range.greatest ? (int32_t)bits : range.greatest;
    }
    return range;
}

/* The range of two parts together. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline tilewright_whole_range tilewright_whole_range_with(tilewright_whole_range range, tilewright_whole_range other)
{
    range.least = other.least > range.least ? other.least : range.least;
    range.greatest = other.greatest > range.greatest ? other.greatest : range.greatest;
    return range;
}

/* A step and the code of 0; `inverse` is 2^55 over the step's 24 bits, and a quotient with the exponent of the step lies
 * `down` bits above 16 of its fraction. Where the step is far from 1 or what is divided may be no number, `inverse` is 0. */
typedef struct {
    float step;
    int32_t zero;
    uint32_t inverse, down;
} tilewright_whole_steps;

/* The step of 255 codes over a range with 0, and the code of 0, as float32 computes them; `x` is the range, or all of which it
 * was made where something is no finite number. */
static inline tilewright_whole_steps tilewright_whole_steps_of(tilewright_whole_range range, const float *x, int count)
{
    tilewright_whole_steps steps;
    float low = 0.0f, high = 0.0f;
    uint32_t finite = 0;
    if (range.least < 0xFF800000u && range.greatest < 0x7F800000) {
        finite = 1;
        const int32_t least = (int32_t)range.least;
        tilewright_whole_store(&low, least);
        tilewright_whole_store(&high, range.greatest);
    } else {
        for (int i = 0; i < count; i++) {
            low = x[i] < low ? x[i] : low;
            high = x[i] > high ? x[i] : high;
        }
    }
    steps.step = (high > low ? high - low : 1.0f) / 255.0f;
    float zero = -low / steps.step;
    zero = zero > 0.0f ? zero : 0.0f;
    zero = tilewright_nearest(zero < 255.0f ? zero : 255.0f);
    steps.zero = (int32_t)zero;
    const uint32_t bits = tilewright_whole_bits(&steps.step), top = bits >> 23, size = (bits & 0x7FFFFFu) | 0x800000u;
    steps.inverse = 0;
    steps.down = top + 15u;
    if (finite != 0u && top > 32u && top < 250u) {
        uint32_t rest = 0x7FFFFFFFu;
        for (int digit = 0; digit < 4; digit++) {
            steps.inverse = steps.inverse << 8 | rest / size;
            rest = rest % size << 8 | 0xFFu;
        }
    }
    return steps;
}

/* The code of a float as float32 computes it. */
static inline int32_t tilewright_whole_code_exact(const float *at, float step, int32_t zero)
{
    const int32_t below = -zero, above = 255 - zero;
    const float least = (float)below, most = (float)above;
    float quotient = *at / step;
    quotient = quotient > least ? quotient : least; /* the limits are whole, so they may come first */
    quotient = quotient < most ? quotient : most;
    return (int32_t)tilewright_nearest(quotient) + zero;
}

/* The code of a float. A quotient with 16 bits of its fraction is less than 2 too small, and float32 rounds it by half a unit
 * at most: where it is not that near to a half, both round to the same whole number. */
static inline int32_t tilewright_whole_code(const float *at, const tilewright_whole_steps *steps)
{
    const uint32_t bits = tilewright_whole_bits(at), size = bits << 8 | 0x80000000u;
    const uint32_t quotient = (uint32_t)(((uint64_t)size * steps->inverse) >> 32);
    const uint32_t down = steps->down - (bits >> 23 & 255u);
    const uint32_t whole = (quotient >> (down < 31u ? down : 31u)) + 0x8000u;
    int32_t code;
    if (((whole + 1u) & 0xFFFFu) <= 1u || steps->inverse == 0u) {
        code = tilewright_whole_code_exact(at, steps->step, steps->zero);
    } else {
        const uint32_t sign = 0u - (bits >> 31), number = (whole >> 16 ^ sign) - sign;
        code = steps->zero + (int32_t)number;
        if (code < 0) {
            code = 0;
        }
        if (code > 255) {
            code = 255;
        }
    }
    return code;
}
