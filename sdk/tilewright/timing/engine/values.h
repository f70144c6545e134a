/* Numbers of up to 64 bits of which some bits are known: `bits` where they are, 0 and a 1 in `unknown` where not.
 * Sums and differences as in Vishwanathan et al., Sound, Precise, and Fast Abstract Interpretation with Tristate Numbers,
 * CGO 2022. Part of machine.c. */
#include <math.h>
#include <stdint.h>
#include <string.h>

struct value {
    uint64_t bits, unknown;
};

static inline uint64_t mask_of(unsigned size)
{
    return size >= 8 ? ~UINT64_C(0) : (UINT64_C(1) << (8 * size)) - 1;
}

static inline int64_t extended(uint64_t bits, unsigned size)
{
    return size >= 8 ? (int64_t)bits : (int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size);
}

static inline struct value known(uint64_t bits)
{
    struct value result = {bits, 0};
    return result;
}

static inline struct value any(uint64_t mask)
{
    struct value result = {0, mask};
    return result;
}

static inline struct value joined(struct value a, struct value b)
{
    struct value result = {0, a.unknown | b.unknown | (a.bits ^ b.bits)};
    result.bits = a.bits & ~result.unknown;
    return result;
}

static struct value sum(struct value a, struct value b, uint64_t mask)
{
    uint64_t least = a.bits + b.bits, wide = a.unknown + b.unknown;
    uint64_t unknown = ((least + wide) ^ least) | a.unknown | b.unknown;
    struct value result = {least & ~unknown & mask, unknown & mask};
    return result;
}

static struct value difference(struct value a, struct value b, uint64_t mask)
{
    uint64_t middle = a.bits - b.bits;
    uint64_t unknown = ((middle + a.unknown) ^ (middle - b.unknown)) | a.unknown | b.unknown;
    struct value result = {middle & ~unknown & mask, unknown & mask};
    return result;
}

static struct value both(struct value a, struct value b)
{
    uint64_t bits = a.bits & b.bits;
    struct value result = {bits, (a.bits | a.unknown) & (b.bits | b.unknown) & ~bits};
    return result;
}

static struct value either(struct value a, struct value b)
{
    uint64_t bits = a.bits | b.bits;
    struct value result = {bits, (a.unknown | b.unknown) & ~bits};
    return result;
}

/* The product's lowest bits are zero as far as those of its factors are. */
static struct value product(struct value a, struct value b, unsigned size)
{
    uint64_t x = a.bits | a.unknown, y = b.bits | b.unknown;
    if (x == 0 || y == 0) {
        return known(0);
    }
    if ((a.unknown | b.unknown) == 0) {
        return known((a.bits * b.bits) & mask_of(size));
    }
    unsigned zeros = (unsigned)(__builtin_ctzll(x) + __builtin_ctzll(y));
    return zeros >= 8 * size ? known(0) : any(mask_of(size) & ~((UINT64_C(1) << zeros) - 1));
}

/* A truth value: 1 where `yes`, 0 where `no`, unknown where neither is sure. */
static inline struct value truth(int yes, int no)
{
    return yes ? known(1) : no ? known(0) : any(1);
}

static struct value less(struct value a, struct value b, int or_equal)
{
    uint64_t low_a = a.bits, high_a = a.bits | a.unknown, low_b = b.bits, high_b = b.bits | b.unknown;
    return or_equal ? truth(high_a <= low_b, low_a > high_b) : truth(high_a < low_b, low_a >= high_b);
}

static inline int64_t lowest(struct value a, unsigned size)
{
    return extended(a.bits | (a.unknown & (UINT64_C(1) << (8 * size - 1))), size);
}

static inline int64_t highest(struct value a, unsigned size)
{
    return extended((a.bits | a.unknown) & ~(a.unknown & (UINT64_C(1) << (8 * size - 1))), size);
}

static struct value signed_less(struct value a, struct value b, unsigned size, int or_equal)
{
    int64_t low_a = lowest(a, size), high_a = highest(a, size), low_b = lowest(b, size), high_b = highest(b, size);
    return or_equal ? truth(high_a <= low_b, low_a > high_b) : truth(high_a < low_b, low_a >= high_b);
}

static struct value equal(struct value a, struct value b)
{
    uint64_t unknown = a.unknown | b.unknown;
    return truth(unknown == 0 && a.bits == b.bits, ((a.bits ^ b.bits) & ~unknown) != 0);
}

static inline struct value negated(struct value a)
{
    return a.unknown & 1 ? any(1) : known(!(a.bits & 1));
}

static struct value carry(struct value a, struct value b, uint64_t mask)
{
    uint64_t high_a = a.bits | a.unknown, high_b = b.bits | b.unknown;
    return truth(((a.bits + b.bits) & mask) < a.bits, ((high_a + high_b) & mask) >= high_a);
}

/* Whether a signed sum, or a difference, leaves the type. */
static struct value overflow(struct value a, struct value b, unsigned size, int subtracted)
{
    if ((a.unknown | b.unknown) == 0) {
        uint64_t result = subtracted ? a.bits - b.bits : a.bits + b.bits;
        uint64_t wrong = subtracted ? (a.bits ^ b.bits) & (a.bits ^ result) : ~(a.bits ^ b.bits) & (a.bits ^ result);
        return known((wrong >> (8 * size - 1)) & 1);
    }
    if (size > 4) {
        return any(1);
    }
    int64_t low = subtracted ? lowest(a, size) - highest(b, size) : lowest(a, size) + lowest(b, size);
    int64_t high = subtracted ? highest(a, size) - lowest(b, size) : highest(a, size) + highest(b, size);
    int64_t most = (int64_t)(mask_of(size) >> 1), least = -most - 1;
    return truth(low > most || high < least, low >= least && high <= most);
}

/* Kinds of shift: to the left, to the right with zeros, to the right with the sign. */
enum shift { LEFT, RIGHT, SIGNED_RIGHT };

static struct value shifted(struct value a, struct value by, unsigned size, enum shift kind)
{
    uint64_t mask = mask_of(size);
    if (by.unknown != 0) {
        return any(mask);
    }
    if (kind == SIGNED_RIGHT) {
        unsigned places = by.bits >= 8 * size ? 8 * size - 1 : (unsigned)by.bits;
        struct value result = {
            (uint64_t)(extended(a.bits, size) >> places) & mask, (uint64_t)(extended(a.unknown, size) >> places) & mask};
        return result;
    }
    if (by.bits >= 8 * size) {
        return known(0);
    }
    struct value left = {(a.bits << by.bits) & mask, (a.unknown << by.bits) & mask};
    struct value right = {a.bits >> by.bits, a.unknown >> by.bits};
    return kind == LEFT ? left : right;
}

/* Kinds of quotient and remainder, by the numbers of p-code. */
static struct value divided(struct value a, struct value b, unsigned size, int remainder, int with_sign)
{
    if ((a.unknown | b.unknown) != 0 || b.bits == 0) {
        return any(mask_of(size));
    }
    int64_t x = extended(a.bits, size), y = extended(b.bits, size);
    uint64_t result;
    if (!with_sign) {
        result = remainder ? a.bits % b.bits : a.bits / b.bits;
    } else if (y == -1) {
        result = remainder ? 0 : 0 - (uint64_t)x;
    } else {
        result = (uint64_t)(remainder ? x % y : x / y);
    }
    return known(result & mask_of(size));
}

/* The nearest number of `width` and `more` bits, with or without sign. */
static struct value saturated(struct value a, unsigned size, struct value width, unsigned more, int with_sign)
{
    unsigned bits = (unsigned)width.bits + more;
    if (width.unknown != 0 || size > 4 || bits > 32 || bits < (unsigned)with_sign) {
        return any(mask_of(size));
    }
    int64_t most = with_sign ? (INT64_C(1) << (bits - 1)) - 1 : (INT64_C(1) << bits) - 1;
    int64_t least = with_sign ? -most - 1 : 0, low = lowest(a, size), high = highest(a, size);
    if (low >= least && high <= most) {
        return a;
    }
    if (low > most || high < least) {
        return known((uint64_t)(low > most ? most : least) & mask_of(size));
    }
    return any(with_sign ? mask_of(size) : (uint64_t)most);
}

static double real_of(uint64_t bits, unsigned size)
{
    double wide;
    float narrow;
    uint32_t word = (uint32_t)bits;
    memcpy(&wide, &bits, sizeof wide);
    memcpy(&narrow, &word, sizeof narrow);
    return size == 4 ? (double)narrow : wide;
}

static struct value real(double number, unsigned size)
{
    float narrow = (float)number;
    uint64_t bits = 0;
    memcpy(&bits, size == 4 ? (const void *)&narrow : (const void *)&number, size == 4 ? 4 : 8);
    return known(bits);
}
