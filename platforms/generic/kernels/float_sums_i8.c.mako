<%
h, w, q = k.h, k.w, k.requantise
row = w.kernel * k.groups.channels
names = (("double", "scale"), ("double", "offset")) if k.real else (("int32_t", "b"), *zip(q.types, q.names))
declared = "".join(f"const {kind} *{f.restrict}{name}, " for kind, name in names)
passed = "".join(f"{name} + channel, " for _, name in names)
%>\
${k.attribute} ${f.storage} void ${f.name}_convert(const ${k.x_type} *${f.restrict}x, float *${f.restrict}row)
{
    for (int i = 0; i < ${w.size * w.x_stride}; i++) {
        row[i] = (float)((int32_t)x[i]${f" - {k.zero}" if k.zero > 0 else f" + {-k.zero}" if k.zero else ""});
    }
}

% for block in k.blocks:
${k.attribute} ${f.storage} void ${f.name}_codes${block.width}(const float *${f.restrict}sums, ${declared}${k.y_type} *${f.restrict}y)
{
    for (int p = 0; p < ${k.pixels[loop.index]}; p++) {
        int32_t codes[${block.width}];
        for (int o = 0; o < ${block.width}; o++) {
% if k.real:
            int32_t code = (int32_t)((double)sums[p * ${block.width} + o] * scale[o] + offset[o]);
            code = code < 0 ? 0 : code;
            codes[o] = (code > ${k.real.span} ? ${k.real.span} : code)${f" - {-k.real.low}" if k.real.low < 0 else f" + {k.real.low}" if k.real.low else ""};
% else:
            const int32_t acc = (int32_t)sums[p * ${block.width} + o] + b[o];
            int32_t code = ${q.code("acc", "o")};
            code = code < ${q.low} ? ${q.low} : code;
            codes[o] = code > ${q.high} ? ${q.high} : code;
% endif
        }
        for (int o = 0; o < ${block.width}; o++) {
            y[p * ${k.groups.all_results} + o] = (${k.y_type})codes[o];
        }
    }
}

${k.attribute} ${f.storage} void ${f.name}_block${block.width}(const float *const *rows, int base, const float *${f.restrict}w, int kh_first, int kh_last, float *${f.restrict}sums)
{
    enum { PIXELS = ${k.pixels[loop.index]} };
    float acc[PIXELS][${block.width}];
    for (int p = 0; p < PIXELS; p++) {
        for (int o = 0; o < ${block.width}; o++) {
            acc[p][o] = 0.0f;
        }
    }
    for (int kh = kh_first; kh < kh_last; kh++) {
        const float *${f.restrict}xr = rows[kh] + base;
        const float *${f.restrict}wr = w + kh * ${w.kernel * k.x_channels if k.depthwise else row * block.width};
% if k.depthwise:
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            for (int p = 0; p < PIXELS; p++) {
                for (int o = 0; o < ${block.width}; o++) {
                    acc[p][o] += xr[p * ${w.stride * w.x_stride} + kw * ${w.dilation * w.x_stride} + o] * wr[kw * ${k.x_channels} + o];
                }
            }
        }
% elif k.contiguous:
        for (int i = 0; i < ${row}; i++) {
            for (int p = 0; p < PIXELS; p++) {
                for (int o = 0; o < ${block.width}; o++) {
                    acc[p][o] += xr[p * ${w.stride * w.x_stride} + i] * wr[i * ${block.width} + o];
                }
            }
        }
% else:
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            for (int i = 0; i < ${k.groups.channels}; i++) {
                for (int p = 0; p < PIXELS; p++) {
                    for (int o = 0; o < ${block.width}; o++) {
                        acc[p][o] += xr[p * ${w.stride * w.x_stride} + kw * ${w.dilation * w.x_stride} + i] * wr[(kw * ${k.groups.channels} + i) * ${block.width} + o];
                    }
                }
            }
        }
% endif
    }
    for (int p = 0; p < PIXELS; p++) {
        for (int o = 0; o < ${block.width}; o++) {
            sums[p * ${block.width} + o] = acc[p][o];
        }
    }
}

% endfor
${f.storage} void ${f.name}(${f.parameters})
{
    float *const ring = scratch;
% for first, floats in ((0, k.left), (k.ring_row - k.right, k.right)):
% if floats:
    for (int r = 0; r < ${k.ring}; r++) {
        for (int i = 0; i < ${floats}; i++) {
            ring[r * ${k.ring_row} + ${first} + i] = 0.0f;
        }
    }
% endif
% endfor
    int next = 0;
    for (int oh = 0; oh < ${h.out}; oh++) {
        const int top = oh * ${h.stride} - ${h.pad};
        const float *rows[${h.kernel}];
        int kh_first = 0;
        int kh_last = ${h.kernel};
        while (kh_first < kh_last && top + kh_first * ${h.dilation} < 0) {
            kh_first++;
        }
        while (kh_last > kh_first && top + ${times("(kh_last - 1)", h.dilation)} >= ${h.size}) {
            kh_last--;
        }
        for (; next < ${h.size} && next < top + ${k.ring}; next++) {
            ${f.name}_convert(x + next * ${h.x_stride}, ring + next % ${k.ring} * ${k.ring_row} + ${k.left});
        }
        for (int kh = 0; kh < ${h.kernel}; kh++) {
            rows[kh] = kh >= kh_first && kh < kh_last ? ring + (top + kh * ${h.dilation}) % ${k.ring} * ${k.ring_row} : ring;
        }
        ${k.y_type} *const yr = y + oh * ${w.out * k.groups.all_results};
% for block in k.blocks:
<%
groups = 1 if k.depthwise else k.groups.count
first = block.first if groups == 1 else f"g * {k.groups.results} + {block.first}"
at_x, at_w = ("channel", "w + channel") if k.depthwise else (
    "0" if groups == 1 else f"g * {k.groups.channels}",
    ("w" if groups == 1 else f"w + g * {k.groups.weights}") + f" + {block.weights} + n * {block.width * h.kernel * row}",
)
%>\
% if groups > 1:
        for (int g = 0; g < ${groups}; g++)
% endif
        for (int n = 0; n < ${block.count}; n++) {
            enum { PIXELS = ${k.pixels[loop.index]} };
            const int channel = ${first} + n * ${block.width};
            for (int ow = 0; ow < ${w.out}; ow += PIXELS) {
                const int at = ow < ${w.out} - PIXELS ? ow : ${w.out} - PIXELS;
                float sums[PIXELS * ${block.width}];
                ${f.name}_block${block.width}(rows, at * ${w.stride * w.x_stride} + ${at_x}, ${at_w}, kh_first, kh_last, sums);
                ${f.name}_codes${block.width}(sums, ${passed}yr + at * ${k.groups.all_results} + channel);
            }
        }
% endfor
    }
}
