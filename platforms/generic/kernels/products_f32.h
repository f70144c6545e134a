/* Products of convolutions and matrices between planes that lie in RAM, weights as the file has them: where taps
 * meet. */
typedef struct {
    int image, channel, row, column; /* elements from one to the next */
} tilewright_steps;
typedef struct {
    int images, groups, channels, results; /* of a group */
    int size[2], outs[2], kernel[2], stride[2], dilation[2], begin[2];
    tilewright_steps x, y;
} tilewright_product;
typedef struct {
    int images, rows, columns;
    tilewright_steps x, y; /* its rows and columns are those that meet */
    int x_start, y_start;
} tilewright_meeting;

/* Where the rows and columns of both begin that meet at a tap, and how many they are. */
#if defined(__GNUC__)
__attribute__((unused, always_inline)) /* a network may need its sizes alone; into kernels with options of their own, too */
#endif
static inline tilewright_meeting tilewright_meet(const tilewright_product *p, int tap)
{
    const int at[2] = {tap / p->kernel[1], tap % p->kernel[1]};
    int low[2], start[2], count[2];
    tilewright_meeting m;
    for (int axis = 0; axis < 2; axis++) {
        const int offset = at[axis] * p->dilation[axis] - p->begin[axis], stride = p->stride[axis];
        const int last = p->size[axis] - 1 - offset;
        const int high = last < 0 ? 0 : last / stride + 1;
        low[axis] = offset < 0 ? (stride - 1 - offset) / stride : 0;
        count[axis] = (high < p->outs[axis] ? high : p->outs[axis]) - low[axis];
        start[axis] = low[axis] * stride + offset;
    }
    m.images = p->images;
    m.rows = count[0] > 0 && count[1] > 0 ? count[0] : 0;
    m.columns = count[1];
    m.x = p->x;
    m.y = p->y;
    m.x.row *= p->stride[0];
    m.x.column *= p->stride[1];
    m.x_start = start[0] * p->x.row + start[1] * p->x.column;
    m.y_start = low[0] * p->y.row + low[1] * p->y.column;
    return m;
}
