<%
h, w = k.h, k.w
down, across = k.padded or h.x_stride, k.padded or w.x_stride # where a pixel lies matters
row = w.kernel * k.channels
depth = h.kernel * row
width = 4
tail = k.out_channels % width
lists = 1 if k.copied and not k.runs else max(h.kernel if k.runs else 0, h.kernel * w.kernel if (k.padded or not k.runs) and not k.copied else 0)
%>\
<%def name="taps(pixels)">\
            for (int kh = 0; kh < ${h.kernel}; kh++) {
                for (int kw = 0; kw < ${w.kernel}; kw++) {
                    for (int j = 0; j < ${pixels}; j++) {
% if down:
                        const int ih = top[j] + ${times("kh", h.dilation)};
% endif
% if across:
                        const int iw = left[j] + ${times("kw", w.dilation)};
% endif
% if k.padded:
                        const bool tap = ih >= 0 && ih < ${h.size} && iw >= 0 && iw < ${w.size};
% endif
% if k.copied:
                        float *const to = copy + j * ${depth} + ${times(f"({times('kh', w.kernel)} + kw)", k.channels)};
                        for (int i = 0; i < ${k.channels}; i++) {
                            to[i] = ${"tap ? " if k.padded else ""}x[${added(times("ih", h.x_stride), times("iw", w.x_stride), times("i", k.x_channel))}]${" : 0.0f" if k.padded else ""};
                        }
% else:
                        sources[${times(f"({times('kh', w.kernel)} + kw)", pixels)} + j] = ${"tap ? " if k.padded else ""}${added("x", times("ih", h.x_stride), times("iw", w.x_stride))}${" : pad" if k.padded else ""};
% endif
                    }
                }
            }
% if k.copied:
            for (int j = 0; j < ${pixels}; j++) {
                sources[j] = copy + j * ${depth};
            }
            taps = 1;
            run = ${depth};
% else:
            taps = ${h.kernel * w.kernel};
            run = ${k.channels};
% endif
</%def>\
static void ${f.name}(${f.parameters})
{
% if k.copied:
    float *const copy = scratch;
% endif
% for block in k.blocks:
    for (int at = ${block.first}; at < ${block.first + block.count * block.pixels}; at += ${block.pixels}) {
        const float *sources[${block.pixels * lists}];
        int taps;
        int run;
% if down:
        int top[${block.pixels}];
% endif
% if across:
        int left[${block.pixels}];
% endif
% if k.runs and k.padded:
        int inside = 1;
% endif
% if down or across:
        for (int j = 0; j < ${block.pixels}; j++) {
            const int oh = ${f"(at + j) / {w.out}" if h.out > 1 else "0"};
% if across:
            const int ow = at + j - oh * ${w.out};
% endif
% if down:
            top[j] = ${plus(times("oh", h.stride), -h.pad)};
% endif
% if across:
            left[j] = ${plus(times("ow", w.stride), -w.pad)};
% endif
% if k.runs and k.padded:
            inside &= (oh >= ${h.inner_first} && oh < ${h.inner_last} && ow >= ${w.inner_first} && ow < ${w.inner_last}) ? 1 : 0;
% endif
        }
% endif
% if k.runs:
% if k.padded:
        if (inside != 0) {
% else:
        {
% endif
            for (int kh = 0; kh < ${h.kernel}; kh++) {
                for (int j = 0; j < ${block.pixels}; j++) {
                    sources[${times("kh", block.pixels)} + j] = ${added("x", times("(top[j] + " + times("kh", h.dilation) + ")", h.x_stride), times("left[j]", w.x_stride))};
                }
            }
            taps = ${h.kernel};
            run = ${row};
        }
% endif
% if k.padded or not k.runs:
        ${"else " if k.runs else ""}{
${taps(block.pixels)}\
        }
% endif
% if k.vectors:
        (void)tilewright_vector_block${block.pixels}(sources, taps, run, w, ${k.out_channels}, ${k.low}, ${k.high}, y + ${times("at", k.out_channels)}, ${k.out_channels});
% else:
<%
whole = k.out_channels // width
call = f"tilewright_float_block{block.pixels}(sources, taps, run, "
%>\
% if whole:
        ${"const float *const weights = " if tail else ""}${call}w, ${whole}, ${k.low}, ${k.high}, y + ${times("at", k.out_channels)}, ${k.out_channels});
% endif
% if tail:
        float rest[${block.pixels * width}];
        ${call}${"weights" if whole else "w"}, 1, ${k.low}, ${k.high}, rest, ${width});
        for (int j = 0; j < ${block.pixels}; j++) {
            (void)memcpy(y + (at + j) * ${k.out_channels} + ${k.out_channels - tail}, rest + j * ${width}, ${4 * tail});
        }
% endif
% endif
    }
% endfor
}
