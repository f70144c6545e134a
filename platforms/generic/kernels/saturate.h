/* The nearest number of eight bits with a sign. */
static inline int32_t tilewright_saturated(int32_t value)
{
#if defined(__ARM_FEATURE_SAT) && defined(__GNUC__)
    int32_t limited;
    __asm__("ssat %0, #8, %1" : "=r"(limited) : "r"(value));
    return limited;
#else
    value = value < -128 ? -128 : value;
    return value > 127 ? 127 : value;
#endif
}
