/* The float of some bits. */
static inline float tilewright_whole_real_of(uint32_t bits)
{
    float value;
    (void)memcpy(&value, &bits, sizeof value);
    return value;
}
