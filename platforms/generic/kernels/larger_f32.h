/* The larger of two values, the first one where they are equal; what is no number stays. */
static inline float tilewright_pool_larger(float largest, float v)
{
    return v <= largest ? largest : v > largest ? v : v + largest;
}
