/* How large numbers and rows of them are. */

/* The bits that a number below 2^31 can be shifted to the left by; 31 for 0. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int tilewright_fixed_room(uint32_t size)
{
    int room = 31;
    for (uint32_t step = 16u; step > 0u; step /= 2u) {
        if (size >> step != 0u) {
            size >>= step;
            room -= (int)step;
        }
    }
    return size != 0u ? room - 1 : room;
}

/* The bits that every element of a row can be shifted to the left by. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int tilewright_fixed_row_room(const int32_t *row, int length)
{
    uint32_t seen = 0;
    for (int i = 0; i < length; i++) {
        seen |= (uint32_t)(row[i] < 0 ? ~row[i] : row[i]);
    }
    return tilewright_fixed_room(seen);
}

/* The largest element of a row without its sign, 1 at least. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static inline int32_t tilewright_fixed_most(const int32_t *row, int length)
{
    int32_t most = 1;
    for (int i = 0; i < length; i++) {
        const int32_t size = row[i] < 0 ? -row[i] : row[i];
        most = size > most ? size : most;
    }
    return most;
}
