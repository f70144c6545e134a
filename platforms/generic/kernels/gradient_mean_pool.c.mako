<%
(n, e_image, x_image), (channels, e_channel, x_channel) = k.planes
(rows, columns), (kh, kw), (sh, sw), (dh, dw), (bh, bw) = k.size, k.kernel, k.strides, k.dilations, k.begins
%>\
static void ${f.name}(${f.parameters})
{
    for (int at = 0; at < ${n * channels * rows * columns}; at++) {
        const int plane = at / ${rows * columns}, row = at / ${columns} % ${rows}, column = at % ${columns};
        const int e_plane = plane / ${channels} * ${e_image} + plane % ${channels} * ${e_channel};
        const int x_plane = plane / ${channels} * ${x_image} + plane % ${channels} * ${x_channel};
        int32_t sum = 0;
        for (int tap = 0; tap < ${kh * kw}; tap++) {
            const int down = row + ${bh} - tap / ${kw} * ${dh}, right = column + ${bw} - tap % ${kw} * ${dw};
            if (down >= 0 && down % ${sh} == 0 && down / ${sh} < ${k.outs[0]} && right >= 0 && right % ${sw} == 0 && right / ${sw} < ${k.outs[1]}) {
                sum += codes[e_plane + down / ${sh} * ${k.y_steps[0]} + right / ${sw} * ${k.y_steps[1]}];
            }
        }
        dx[x_plane + row * ${k.x_steps[0]} + column * ${k.x_steps[1]}] = (int8_t)tilewright_within(${"tilewright_down(sum + %d, %d)" % (1 << k.bits >> 1, k.bits) if k.bits else "sum"}, -127, 127);
    }
}
