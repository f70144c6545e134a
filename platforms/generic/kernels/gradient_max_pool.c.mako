<%
(n, e_image, x_image), (channels, e_channel, x_channel) = k.planes
(rows, columns), (kh, kw), (sh, sw), (dh, dw), (bh, bw) = k.size, k.kernel, k.strides, k.dilations, k.begins
%>\
/* 1 where an element is the first of the largest of a window. */
static int ${f.name}_first(const ${k.x_type} *x, int top, int left, int own)
{
    const int32_t value = x[own / ${columns} * ${k.x_steps[0]} + own % ${columns} * ${k.x_steps[1]}];
    for (int tap = 0; tap < ${kh * kw}; tap++) {
        const int row = top + tap / ${kw} * ${dh}, column = left + tap % ${kw} * ${dw};
        if (row >= 0 && row < ${rows} && column >= 0 && column < ${columns}) {
            const int32_t other = x[row * ${k.x_steps[0]} + column * ${k.x_steps[1]}];
            if (other > value || (other == value && row * ${columns} + column < own)) {
                return 0;
            }
        }
    }
    return 1;
}

static void ${f.name}(${f.parameters})
{
    for (int at = 0; at < ${n * channels * rows * columns}; at++) {
        const int plane = at / ${rows * columns}, own = at % ${rows * columns}, row = own / ${columns}, column = own % ${columns};
        const int e_plane = plane / ${channels} * ${e_image} + plane % ${channels} * ${e_channel};
        const int x_plane = plane / ${channels} * ${x_image} + plane % ${channels} * ${x_channel};
        int32_t sum = 0;
        for (int tap = 0; tap < ${kh * kw}; tap++) {
            const int down = row + ${bh} - tap / ${kw} * ${dh}, right = column + ${bw} - tap % ${kw} * ${dw};
            if (down >= 0 && down % ${sh} == 0 && down / ${sh} < ${k.outs[0]} && right >= 0 && right % ${sw} == 0 && right / ${sw} < ${k.outs[1]}) {
                const int32_t gradient = codes[e_plane + down / ${sh} * ${k.y_steps[0]} + right / ${sw} * ${k.y_steps[1]}];
                if (gradient != 0 && ${f.name}_first(x + x_plane, down - ${bh}, right - ${bw}, own) != 0) {
                    sum += gradient;
                }
            }
        }
        dx[x_plane + row * ${k.x_steps[0]} + column * ${k.x_steps[1]}] = (int8_t)tilewright_within(${"tilewright_down(sum + %d, %d)" % (1 << k.bits >> 1, k.bits) if k.bits else "sum"}, -127, 127);
    }
}
