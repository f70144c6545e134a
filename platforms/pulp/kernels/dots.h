/* Words of four bytes: loads, stores, and products of bytes added to a sum. A word's address is a multiple of four. */
static inline uint32_t tilewright_word(const void *at)
{
    uint32_t word;
    (void)memcpy(&word, __builtin_assume_aligned(at, 4), sizeof word);
    return word;
}

static inline void tilewright_put_word(void *at, uint32_t word)
{
    (void)memcpy(__builtin_assume_aligned(at, 4), &word, sizeof word);
}

/* A float by its bits: beside the core it is a constant of two instructions, in L2 a load of fifteen cycles. */
static inline float tilewright_float(uint32_t bits)
{
    float value;
#ifdef TILEWRIGHT_XPULP
    __asm__("" : "+r"(bits)); /* compilers would put it into memory */
#endif
    (void)memcpy(&value, (const void *)&bits, sizeof value);
    return value;
}

/* From -limit to limit, which is what no number becomes. */
static inline float tilewright_limited(float x, float limit)
{
#if defined(TILEWRIGHT_XPULP) && defined(__riscv_flen)
    __asm__("fmax.s %0, %0, %1\n\tfmin.s %0, %0, %2" : "+&f"(x) : "f"(-limit), "f"(limit));
    return x;
#else
    return x > limit ? limit : x >= -limit ? x : -limit;
#endif
}

#ifdef TILEWRIGHT_XPULP
static inline int32_t tilewright_dot(int32_t sum, uint32_t signed_bytes, uint32_t others)
{
    __asm__("pv.sdotsp.b %0, %1, %2" : "+r"(sum) : "r"(signed_bytes), "r"(others));
    return sum;
}

static inline int32_t tilewright_unsigned_dot(int32_t sum, uint32_t unsigned_bytes, uint32_t others)
{
    __asm__("pv.sdotusp.b %0, %1, %2" : "+r"(sum) : "r"(unsigned_bytes), "r"(others));
    return sum;
}

static inline int32_t tilewright_product_added(int32_t sum, int32_t a, int32_t b)
{
    __asm__("p.mac %0, %1, %2" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}

static inline int32_t tilewright_high(int32_t a, int32_t b)
{
    __asm__("mulh %0, %1, %2" : "=r"(a) : "r"(a), "r"(b)); /* compilers extend what a branch made */
    return a;
}

static inline uint32_t tilewright_unsigned_high(uint32_t a, uint32_t b)
{
    __asm__("mulhu %0, %1, %2" : "=r"(a) : "r"(a), "r"(b));
    return a;
}

static inline int32_t tilewright_larger(int32_t a, int32_t b)
{
    __asm__("p.max %0, %1, %2" : "=r"(a) : "r"(a), "r"(b));
    return a;
}

static inline int32_t tilewright_smaller(int32_t a, int32_t b)
{
    __asm__("p.min %0, %1, %2" : "=r"(a) : "r"(a), "r"(b));
    return a;
}
#else
static inline int32_t tilewright_dot(int32_t sum, uint32_t signed_bytes, uint32_t others)
{
    for (int shift = 0; shift < 32; shift += 8) {
        sum += (int8_t)(signed_bytes >> shift & 255u) * (int8_t)(others >> shift & 255u);
    }
    return sum;
}

static inline int32_t tilewright_unsigned_dot(int32_t sum, uint32_t unsigned_bytes, uint32_t others)
{
    for (int shift = 0; shift < 32; shift += 8) {
        sum += (int32_t)(unsigned_bytes >> shift & 255u) * (int8_t)(others >> shift & 255u);
    }
    return sum;
}

static inline int32_t tilewright_product_added(int32_t sum, int32_t a, int32_t b) { return sum + a * b; }

static inline int32_t tilewright_high(int32_t a, int32_t b) { return (int32_t)((int64_t)a * b >> 32); }

static inline uint32_t tilewright_unsigned_high(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }

static inline int32_t tilewright_larger(int32_t a, int32_t b) { return a > b ? a : b; }

static inline int32_t tilewright_smaller(int32_t a, int32_t b) { return a < b ? a : b; }
#endif
