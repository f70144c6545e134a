#include <stddef.h>
#include <string.h>

/* How many of 255 steps lie at or below a float; all are integers in the order of the floats. */
static inline int tilewright_steps_passed(const int32_t *steps, const void *element)
{
    int32_t place;
    (void)memcpy(&place, element, sizeof place);
    place ^= place < 0 ? 0x7fffffff : 0;
    place = place > 0x7f800000 ? -0x7fffffff : place; /* what is no number becomes the lowest code */
    const int32_t *at = steps;
    at += at[127] <= place ? 128 : 0;
    at += at[63] <= place ? 64 : 0;
    at += at[31] <= place ? 32 : 0;
    at += at[15] <= place ? 16 : 0;
    at += at[7] <= place ? 8 : 0;
    at += at[3] <= place ? 4 : 0;
    at += at[1] <= place ? 2 : 0;
    at += at[0] <= place ? 1 : 0;
    const ptrdiff_t number = at - steps;
    return (int)number;
}
