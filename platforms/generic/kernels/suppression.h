/* What boxes have in common, in float and in the order of operations of the operator's own meaning. */
static inline float tilewright_box_low(float a, float b) { return a < b || a != a ? a : b; }

static inline float tilewright_box_high(float a, float b) { return a > b || a != a ? a : b; }

/* 1 where the two boxes, as low and high corners, share more than `limit` of what they cover together. */
static inline int tilewright_boxes_overlap(const float *one, const float *other, float limit)
{
    const float height = tilewright_box_low(one[2], other[2]) - tilewright_box_high(one[0], other[0]);
    const float width = tilewright_box_low(one[3], other[3]) - tilewright_box_high(one[1], other[1]);
    const float one_height = one[2] - one[0], one_width = one[3] - one[1];
    const float other_height = other[2] - other[0], other_width = other[3] - other[1];
    const float one_area = one_height * one_width;
    const float other_area = other_height * other_width;
    float shared = 0.0f;
    if (height > 0.0f && width > 0.0f) {
        shared = height * width;
    }
    const float both = one_area + other_area;
    const float covered = both - shared;
    float ratio = 0.0f;
    if (one_area > 0.0f && other_area > 0.0f && covered > 0.0f) {
        ratio = shared / covered;
    }
    return ratio > limit;
}
