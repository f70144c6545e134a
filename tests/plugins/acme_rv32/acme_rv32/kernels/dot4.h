#ifndef ACME_DOT4_H
#define ACME_DOT4_H

/* The core has one instruction for this; any other compiler gets four multiplications. */
static int32_t acme_dot4(const int8_t *a, const int8_t *w, int32_t sum)
{
    return sum + a[0] * w[0] + a[1] * w[1] + a[2] * w[2] + a[3] * w[3];
}

static int32_t acme_dot(const int8_t *a, const int8_t *w, int depth, int32_t sum)
{
    int at = 0;
    for (; at + 4 <= depth; at += 4) {
        sum = acme_dot4(a + at, w + at, sum);
    }
    for (; at < depth; at++) {
        sum += a[at] * w[at];
    }
    return sum;
}

#endif
