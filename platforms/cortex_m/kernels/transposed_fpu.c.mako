<%
h, w = k.h, k.w
blocks = k.width * -(-k.group_out_channels // k.width)

def behind(array, elements):
    return f"{array} + {elements}" if elements else array
%>\
TILEWRIGHT_FLOAT void ${f.name}_phase(const float *x, const float *w, const float *pad, float *y${', float *xs' if k.width > 1 else ''}, const tilewright_phase *p)
{
    const int pixels = p->columns < 4 ? p->columns : 4;
    for (int row = 0; row < p->rows; row++) {
        for (int column = 0; column < p->columns; column += pixels) {
            const int at = column < p->columns - pixels ? column : p->columns - pixels;
% if k.width > 1:
            float *put = xs;
% else:
            const float *weights = w + p->weights;
            float sums[4] = {*weights, *weights, *weights, *weights};
            weights++;
% endif
            for (int down = 0; down < p->taps_down; down++) {
                const int ih = row + p->top + ${times("down", h.dilation)};
                const bool inside = ih >= 0 && ih < ${h.size};
                for (int across = 0; across < p->taps_across; across++) {
                    const float *taps[4];
                    const int left = at + p->left + ${times("across", w.dilation)};
% if w.size > 3:
                    if (pixels == 4 && inside && left >= 0 && left < ${w.size - 3}) {
                        taps[0] = x + (ih * ${w.size} + left) * ${k.channels};
                        taps[1] = taps[0] + ${k.channels};
                        taps[2] = taps[1] + ${k.channels};
                        taps[3] = taps[2] + ${k.channels};
                    } else
% endif
                    {
                        for (int j = 0; j < 4; j++) {
                            const int iw = left + (j < pixels ? j : pixels - 1);
                            taps[j] = pad;
                            if (inside && iw >= 0 && iw < ${w.size}) {
                                taps[j] = x + (ih * ${w.size} + iw) * ${k.channels};
                            }
                        }
                    }
% if k.width > 1:
                    put = tilewright_float_gather(taps, put, ${k.group_channels});
% else:
                    weights = tilewright_phase_add(taps, weights, ${k.group_channels}, sums);
% endif
                }
            }
% if k.width > 1:
            if (put == xs) {
                (void)memset(xs, 0, 16);
            }
            const float *weights = w + p->weights;
% endif
            float *const to = y + ((p->first_row + row * ${h.stride}) * ${w.out} + p->first_column + at * ${w.stride}) * ${k.out_channels};
% if k.width > 1:
            for (int channel = 0; channel < ${k.group_out_channels}; channel += 4) {
                float sums[16];
                weights = tilewright_float_block(xs, weights, p->depth, sums);
                for (int j = 0; j < pixels; j++) {
                    for (int o = 0; o < 4; o++) {
% if k.group_out_channels % 4:
                        if (channel + o < ${k.group_out_channels})
% endif
                        {
                            const float v = sums[4 * j + o];
                            to[j * ${w.stride * k.out_channels} + channel + o] = ${k.clamp};
                        }
                    }
                }
            }
% else:
            for (int j = 0; j < pixels; j++) {
                const float v = sums[j];
                to[j * ${w.stride * k.out_channels}] = ${k.clamp};
            }
% endif
        }
    }
}

static void ${f.name}(${f.parameters})
{
% for members in k.phases:
    {
        static const tilewright_phase phase = {${", ".join(map(str, members))}};
% for group in range(k.groups):
        ${f.name}_phase(${behind("x", group * k.group_channels)}, ${behind("w", group * blocks * (1 + members[8]))}, pad, ${behind("y", group * k.group_out_channels)}, ${'scratch, ' if k.width > 1 else ''}&phase);
% endfor
    }
% endfor
}
