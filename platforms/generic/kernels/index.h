/* An index as ONNX counts it, negative ones from the end; what still lies outside is moved to the nearest element, so
 * data from outside never reads or writes beyond a tensor. */
static inline int tilewright_index(int64_t index, int size)
{
    if ((uint64_t)index < (uint64_t)size) {
        return (int)index; /* as nearly all are */
    }
    const int64_t counted = index < 0 ? index + size : index;
    return counted < 0 ? 0 : counted >= size ? size - 1 : (int)counted;
}
