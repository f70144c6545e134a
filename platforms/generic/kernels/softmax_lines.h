/* Points 128 codes apart, from -32768 on, and lines between them. */
static inline int32_t tilewright_on_line(const int16_t *points, int32_t code)
{
    const int32_t from_lowest = code + 32768, at = from_lowest >> 7;
    return points[at] + (((points[at + 1] - points[at]) * (from_lowest & 127) + 64) >> 7);
}
