static inline float ${name}_clamp(float value, float low, float high)
{
    return value < low ? low : (value > high ? high : value);
}
