/* The corners of a box, the lower ones first. */
${f.storage} void ${f.name}_corners(const float *box, float *corners)
{
% if k.centred:
    const float height = box[3] / 2.0f;
    const float width = box[2] / 2.0f;
    corners[0] = box[1] - height;
    corners[1] = box[0] - width;
    corners[2] = box[1] + height;
    corners[3] = box[0] + width;
% else:
    corners[0] = tilewright_box_low(box[0], box[2]);
    corners[1] = tilewright_box_low(box[1], box[3]);
    corners[2] = tilewright_box_high(box[0], box[2]);
    corners[3] = tilewright_box_high(box[1], box[3]);
% endif
}

/* 1 where box a is looked at before box b: of equal scores the lower index, what is not a number last. */
${f.storage} int ${f.name}_before(const float *scores, ${k.index} a, ${k.index} b)
{
    const float s = scores[a], t = scores[b];
    if (s > t || (s == s && t != t)) {
        return 1;
    }
    if (t > s || (t == t && s != s)) {
        return 0;
    }
    return a < b;
}

/* Moves the candidate at `at` down the heap until none below it is better. */
${f.storage} void ${f.name}_sink(const float *scores, ${k.index} *heap, int size, int at)
{
    const ${k.index} moved = heap[at];
    for (;;) {
        int child = 2 * at + 1;
        if (child + 1 < size && ${f.name}_before(scores, heap[child + 1], heap[child])) {
            child++;
        }
        if (child >= size || !${f.name}_before(scores, heap[child], moved)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* 1 where none of the `chosen` boxes shares too much with this one. */
${f.storage} int ${f.name}_free(const float *boxes, int box, const int64_t *chosen, int count, float limit)
{
    float one[4], other[4];
    ${f.name}_corners(boxes + box * 4, one);
    for (int i = 0; i < count; i++) {
        ${f.name}_corners(boxes + (int)chosen[i * 3 + 2] * 4, other);
        if (tilewright_boxes_overlap(one, other, limit)) {
            return 0;
        }
    }
    return 1;
}

${f.storage} void ${f.name}(${f.parameters})
{
    ${k.index} *const heap = (${k.index} *)scratch;
% if k.limited:
    const int64_t asked = max_output_boxes_per_class[0];
    const int most = asked < 0 ? 0 : asked > ${k.boxes} ? ${k.boxes} : (int)asked;
% else:
    const int most = 0;
% endif
    const float limit = ${"iou_threshold[0]" if k.overlap else "0.0f"};
    int found = 0;
    for (int row = 0; row < ${k.batch * k.classes} && most > 0; row++) {
        const float *const of_class = scores + row * ${k.boxes};
        const float *const of_image = boxes + row / ${k.classes} * ${4 * k.boxes};
        const int first = found;
        int size = 0;
        for (int i = 0; i < ${k.boxes}; i++) {
% if k.scored:
            if (of_class[i] > score_threshold[0]) {
                heap[size++] = (${k.index})i;
            }
% else:
            heap[size++] = (${k.index})i;
% endif
        }
        for (int i = size / 2 - 1; i >= 0; i--) {
            ${f.name}_sink(of_class, heap, size, i);
        }
        while (size > 0 && found - first < most && found < ${k.bound}) {
            const int best = (int)heap[0];
            heap[0] = heap[--size];
            ${f.name}_sink(of_class, heap, size, 0);
            if (${f.name}_free(of_image, best, selected + first * 3, found - first, limit)) {
                selected[found * 3] = row / ${k.classes};
                selected[found * 3 + 1] = row % ${k.classes};
                selected[found * 3 + 2] = best;
                found++;
            }
        }
    }
    for (int i = found * 3; i < ${3 * k.bound}; i++) {
        selected[i] = 0;
    }
    count[0] = found;
}
