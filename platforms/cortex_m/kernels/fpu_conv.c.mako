<%namespace name="parts" file="/fpu_conv_parts.c.mako"/>\
<%
h, w = k.h, k.w
row = w.kernel * k.channels
depth = h.kernel * row
start = k.pixels - 4
rows, columns = k.padded or h.x_stride, k.padded or w.x_stride
%>\
TILEWRIGHT_FLOAT void ${f.name}${"_group" if k.groups > 1 else ""}(${f.parameters})
% if k.slide is not None:
{
${parts.by_planes(k, depth)}\
}
% elif k.pixels < 4:
{
${parts.by_pixel(k, depth)}\
}
% else:
{
    float *const xs = scratch;
    for (int p = 0; p < ${k.pixels}; p += 4) {
        const int at = p < ${start} ? p : ${start};
% if rows:
        int top[4];
% endif
% if columns:
        int left[4];
% endif
        float *results[4];
% if k.runs:
        int inside = 1;
% endif
        for (int j = 0; j < 4; j++) {
            const int pixel = at + j;
% if rows or columns:
            const int oh = pixel / ${w.out};
% endif
% if columns:
            const int ow = pixel - oh * ${w.out};
% endif
% if rows:
            top[j] = ${plus(times("oh", h.stride), -h.pad)};
% endif
% if columns:
            left[j] = ${plus(times("ow", w.stride), -w.pad)};
% endif
            results[j] = y + ${times("pixel", k.out_channels)};
% if k.runs and k.padded:
            inside &= (oh >= ${h.inner_first} && oh < ${h.inner_last} && ow >= ${w.inner_first} && ow < ${w.inner_last}) ? 1 : 0;
% endif
        }
        float *put = xs;
        const float *sources[4];
% if k.runs:
        if (inside != 0) {
            for (int kh = 0; kh < ${h.kernel}; kh++) {
                for (int j = 0; j < 4; j++) {
                    sources[j] = ${added("x", times(f"(top[j] + {times('kh', h.dilation)})", h.x_stride), times("left[j]", w.x_stride))};
                }
                put = tilewright_float_gather(sources, put, ${row});
            }
        } else
% endif
        {
            for (int kh = 0; kh < ${h.kernel}; kh++) {
                for (int kw = 0; kw < ${w.kernel}; kw++) {
                    for (int j = 0; j < 4; j++) {
% if k.padded:
                        const int ih = top[j] + ${times("kh", h.dilation)};
                        const int iw = left[j] + ${times("kw", w.dilation)};
                        const bool tap = ih >= 0 && ih < ${h.size} && iw >= 0 && iw < ${w.size};
                        sources[j] = tap ? ${added("x", times("ih", h.x_stride), times("iw", w.x_stride))} : pad;
% else:
                        sources[j] = ${added("x", times(f"(top[j] + {times('kh', h.dilation)})", h.x_stride), times(f"(left[j] + {times('kw', w.dilation)})", w.x_stride))};
% endif
% if k.x_channel != 1:
                        for (int i = 0; i < ${k.channels}; i++) {
                            put[4 * i + j] = ${"tap ? sources[j][i * " + str(k.x_channel) + "] : 0.0f" if k.padded else f"sources[j][i * {k.x_channel}]"};
                        }
% endif
                    }
% if k.x_channel != 1:
                    put += ${4 * k.channels};
% else:
                    put = tilewright_float_gather(sources, put, ${k.channels});
% endif
                }
            }
        }
${parts.products(k, depth)}\
    }
}
% endif
% if k.groups > 1:

TILEWRIGHT_FLOAT void ${f.name}(${f.parameters})
{
    for (int g = 0; g < ${k.groups}; g++) {
        ${f.name}_group(${added("x", times("g", k.channels * k.x_channel))}, y + ${times("g", k.results)}, w + ${times("g", k.group_floats)}${", pad" if "pad" in f.parameters else ""}, scratch);
    }
}
% endif
