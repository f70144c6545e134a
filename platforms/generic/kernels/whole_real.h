/* The float of some bits. */
static inline float tilewright_whole_real_of(uint32_t bits)
{
    float value;
    tilewright_whole_store(&value, (int32_t)bits);
    return value;
}
