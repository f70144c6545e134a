/* Products of convolutions and matrices between planes that lie in RAM, weights as the file has them: 4 x 4 of them in
 * registers, row by row of what meets at a tap. */
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
static tilewright_meeting tilewright_meet(const tilewright_product *p, int tap)
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

#define TILEWRIGHT_ROW(o)                                                     \
    a##o##0 = TILEWRIGHT_MULTIPLY_ADD(y##o, x0, a##o##0);                     \
    a##o##1 = TILEWRIGHT_MULTIPLY_ADD(y##o, x1, a##o##1);                     \
    a##o##2 = TILEWRIGHT_MULTIPLY_ADD(y##o, x2, a##o##2);                     \
    a##o##3 = TILEWRIGHT_MULTIPLY_ADD(y##o, x3, a##o##3);
#define TILEWRIGHT_SLOPES(x_column, y_column)                                 \
    for (int i = 0; i < m->columns; i++) {                                    \
        const float x0 = *px0, x1 = *px1, x2 = *px2, x3 = *px3;               \
        const float y0 = *py0, y1 = *py1, y2 = *py2, y3 = *py3;               \
        px0 += (x_column), px1 += (x_column), px2 += (x_column), px3 += (x_column); \
        py0 += (y_column), py1 += (y_column), py2 += (y_column), py3 += (y_column); \
        TILEWRIGHT_ROW(0) TILEWRIGHT_ROW(1) TILEWRIGHT_ROW(2) TILEWRIGHT_ROW(3) \
    }
/* sums[4 * o + c]: of all that meets, the products of four results' gradients with four channels. */
TILEWRIGHT_FLOAT void tilewright_slopes_4x4(const float *x, const float *y, const tilewright_meeting *m, float *sums)
{
    float a00 = 0, a01 = 0, a02 = 0, a03 = 0, a10 = 0, a11 = 0, a12 = 0, a13 = 0;
    float a20 = 0, a21 = 0, a22 = 0, a23 = 0, a30 = 0, a31 = 0, a32 = 0, a33 = 0;
    for (int at = 0; at < m->images * m->rows; at++) {
        const int image = at / m->rows, row = at % m->rows;
        const float *px0 = x + m->x_start + image * m->x.image + row * m->x.row;
        const float *py0 = y + m->y_start + image * m->y.image + row * m->y.row;
        const float *px1 = px0 + m->x.channel, *px2 = px1 + m->x.channel, *px3 = px2 + m->x.channel;
        const float *py1 = py0 + m->y.channel, *py2 = py1 + m->y.channel, *py3 = py2 + m->y.channel;
        if (m->x.column == 1 && m->y.column == 1) {
            TILEWRIGHT_SLOPES(1, 1)
        } else {
            TILEWRIGHT_SLOPES(m->x.column, m->y.column)
        }
    }
    sums[0] = a00, sums[1] = a01, sums[2] = a02, sums[3] = a03;
    sums[4] = a10, sums[5] = a11, sums[6] = a12, sums[7] = a13;
    sums[8] = a20, sums[9] = a21, sums[10] = a22, sums[11] = a23;
    sums[12] = a30, sums[13] = a31, sums[14] = a32, sums[15] = a33;
}

TILEWRIGHT_FLOAT float tilewright_slope(const float *x, const float *y, const tilewright_meeting *m)
{
    float sum = 0;
    for (int at = 0; at < m->images * m->rows; at++) {
        const int image = at / m->rows, row = at % m->rows;
        const float *px = x + m->x_start + image * m->x.image + row * m->x.row;
        const float *py = y + m->y_start + image * m->y.image + row * m->y.row;
        for (int i = 0; i < m->columns; i++) {
            sum = TILEWRIGHT_MULTIPLY_ADD(*px, *py, sum);
            px += m->x.column;
            py += m->y.column;
        }
    }
    return sum;
}

#define TILEWRIGHT_INTO(c)                                                    \
    t##c = TILEWRIGHT_MULTIPLY_ADD(f0##c, s0, t##c);                          \
    t##c = TILEWRIGHT_MULTIPLY_ADD(f1##c, s1, t##c);                          \
    t##c = TILEWRIGHT_MULTIPLY_ADD(f2##c, s2, t##c);                          \
    t##c = TILEWRIGHT_MULTIPLY_ADD(f3##c, s3, t##c);
#define TILEWRIGHT_SPREAD(t_column, s_column)                                 \
    for (int i = 0; i < columns; i++) {                                       \
        const float s0 = *ps0, s1 = *ps1, s2 = *ps2, s3 = *ps3;               \
        float t0 = *pt0, t1 = *pt1, t2 = *pt2, t3 = *pt3;                     \
        TILEWRIGHT_INTO(0) TILEWRIGHT_INTO(1) TILEWRIGHT_INTO(2) TILEWRIGHT_INTO(3) \
        *pt0 = t0, *pt1 = t1, *pt2 = t2, *pt3 = t3;                           \
        ps0 += (s_column), ps1 += (s_column), ps2 += (s_column), ps3 += (s_column); \
        pt0 += (t_column), pt1 += (t_column), pt2 += (t_column), pt3 += (t_column); \
    }
/* Adds four source planes, each by a factor of its own, to each of four target planes; f[4 * source + target]. */
TILEWRIGHT_FLOAT void tilewright_spread_4x4(float *target, const tilewright_steps *t, const float *source,
                                            const tilewright_steps *s, int images, int rows, int columns, const float *f)
{
    const float f00 = f[0], f01 = f[1], f02 = f[2], f03 = f[3], f10 = f[4], f11 = f[5], f12 = f[6], f13 = f[7];
    const float f20 = f[8], f21 = f[9], f22 = f[10], f23 = f[11], f30 = f[12], f31 = f[13], f32 = f[14], f33 = f[15];
    for (int at = 0; at < images * rows; at++) {
        const int image = at / rows, row = at % rows;
        float *pt0 = target + image * t->image + row * t->row;
        const float *ps0 = source + image * s->image + row * s->row;
        float *pt1 = pt0 + t->channel, *pt2 = pt1 + t->channel, *pt3 = pt2 + t->channel;
        const float *ps1 = ps0 + s->channel, *ps2 = ps1 + s->channel, *ps3 = ps2 + s->channel;
        if (t->column == 1 && s->column == 1) {
            TILEWRIGHT_SPREAD(1, 1)
        } else {
            TILEWRIGHT_SPREAD(t->column, s->column)
        }
    }
}

TILEWRIGHT_FLOAT void tilewright_spread(float *target, const tilewright_steps *t, const float *source,
                                        const tilewright_steps *s, int images, int rows, int columns, float f)
{
    for (int at = 0; at < images * rows; at++) {
        const int image = at / rows, row = at % rows;
        float *pt = target + image * t->image + row * t->row;
        const float *ps = source + image * s->image + row * s->row;
        for (int i = 0; i < columns; i++) {
            *pt = TILEWRIGHT_MULTIPLY_ADD(*ps, f, *pt);
            pt += t->column;
            ps += s->column;
        }
    }
}
