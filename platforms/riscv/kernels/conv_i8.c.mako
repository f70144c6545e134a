<%
h, w, q = k.h, k.w, k.requantise
row = w.kernel * k.groups.channels
length = k.depth if k.gather else row
rows_padded = not k.gather and (h.inner_first > 0 or h.inner_last < h.out)
pad = f"const {k.x_type} *pad, "
%>\
<%def name="products(block, pixel, indent, count)">
<%
step = 4 if count >= 4 else 1
whole = count // step * step
%>\
${indent}const ${k.w_type} *const end = ${plus("wr", whole * block.width)};
${indent}do {
${hide(pixel, indent + "    ")}\
% for u in range(step):
${product(block, pixel, indent + "    ", u)}\
% endfor
${advance(block, pixel, indent + "    ", step)}\
${indent}} while (wr != end);
% for u in range(count - whole):
${product(block, pixel, indent, u)}\
% endfor
% if count > whole:
${indent}wr += ${(count - whole) * block.width};
% endif
</%def>\
<%def name="hide(pixel, indent)">
% if pixel is None:
${indent}TILEWRIGHT_HIDE(xr);
% else:
% for p in range(k.pixels):
${indent}TILEWRIGHT_HIDE(x${p});
% endfor
% endif
</%def>\
<%def name="advance(block, pixel, indent, step)">
% if pixel is None:
${indent}xr += ${step};
% else:
% for p in range(k.pixels):
${indent}x${p} += ${step};
% endfor
% endif
${indent}wr += ${step * block.width};
</%def>\
<%def name="product(block, pixel, indent, u)">
${indent}{
% for o in range(block.width):
${indent}    const int32_t w${o} = wr[${u * block.width + o}];
% endfor
${indent}    int32_t v;
% for p in range(k.pixels):
${indent}    v = ${f"xr[{p * pixel_stride + u}]" if pixel is None else f"x{p}[{u}]"};
% for o in range(block.width):
${indent}    s${p}_${o} += v * w${o};
% endfor
% endfor
${indent}}
</%def>\
<%
pixel_stride = k.depth if k.gather else w.stride * w.x_stride
%>\
<%def name="biases(block)">
% for o in range(block.width):
    const int32_t b${o} = b[${o}];
% endfor
</%def>\
<%def name="start(block)">
% for p in range(k.pixels):
% for o in range(block.width):
    int32_t s${p}_${o} = b${o};
% endfor
% endfor
</%def>\
<%def name="store(block)">
    int32_t code;
% for name, value in q.of_layer:
    int32_t ${name} = ${value};
    TILEWRIGHT_HIDE(${name});
% endfor
% for o in range(block.width):
    {
% for c_type, name in q.of_channel:
        const ${c_type} ${name} = ${name}s[${o}];
% endfor
% for p in range(k.pixels):
        code = ${q.code(f"s{p}_{o}")};
        code = code < low ? low : code;
        code = code > high ? high : code;
        y[${p * k.groups.all_results + o}] = (${k.y_type})code;
% endfor
    }
% endfor
</%def>\
% for block in k.blocks:
% if k.gather or k.pointwise:
${k.attribute} static void ${f.name}_block${block.width}(const ${k.x_type} *x, const ${k.w_type} *wr, const int32_t *b, ${q.parameters}${k.y_type} *y, int count)
{
    do {
${biases(block)}\
${start(block)}\
    const ${k.x_type} *xr = x;
${products(block, None, "    ", length)}\
${store(block)}\
    b = &b[${block.width}];
% for _, name in q.of_channel:
    ${name}s += ${block.width};
% endfor
    y = &y[${block.width}];
    } while (--count > 0);
}

% elif any(run.inner for run in k.runs):
${k.attribute} static void ${f.name}_block${block.width}(const ${k.x_type} *x, ${pad + "int top, " if rows_padded else ""}const ${k.w_type} *w, const int32_t *b, ${q.parameters}${k.y_type} *y, int count)
{
${biases(block)}\
    do {
${start(block)}\
    const ${k.w_type} *wr = w;
% if h.kernel == 1 and not rows_padded:
    const ${k.x_type} *xr = x;
${products(block, None, "    ", length)}\
% else:
    for (int kh = 0; kh < ${h.kernel}; kh++) {
% if rows_padded:
        const int at = top + ${times("kh", h.dilation)};
        const ${k.x_type} *xr = at >= 0 && at < ${h.size} ? x + ${times("kh", h.dilation * h.x_stride)} : pad;
% else:
        const ${k.x_type} *xr = x + ${times("kh", h.dilation * h.x_stride)};
% endif
${products(block, None, "        ", length)}\
    }
% endif
${store(block)}\
    x = &x[${k.pixels * w.stride * w.x_stride}];
    y = &y[${k.pixels * k.groups.all_results}];
    } while (--count > 0);
}

% endif
% if not k.gather and not k.pointwise and not all(run.inner for run in k.runs):
${k.attribute} static void ${f.name}_edge${block.width}(const ${k.x_type} *x, ${pad if k.padded else ""}int top, int left, const ${k.w_type} *wr, const int32_t *b, ${q.parameters}${k.y_type} *y)
{
${biases(block)}\
${start(block)}\
    for (int kh = 0; kh < ${h.kernel}; kh++) {
        const int row = top + ${times("kh", h.dilation)};
        const ${k.x_type} *const xr = x + ${times("row", h.x_stride)};
% if h.inner_first > 0 or h.inner_last < h.out:
        const bool inside = row >= 0 && row < ${h.size};
% endif
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            const int column = left + ${times("kw", w.dilation)};
% for p in range(k.pixels):
% if k.padded:
            const ${k.x_type} *x${p} = ${"inside && " if h.inner_first > 0 or h.inner_last < h.out else ""}column >= ${-p * w.stride} && column < ${w.size - p * w.stride} ? xr + ${times(grouped(plus("column", p * w.stride)), w.x_stride)} : pad;
% else:
            const ${k.x_type} *x${p} = xr + ${times(grouped(plus("column", p * w.stride)), w.x_stride)};
% endif
% endfor
${products(block, True, "            ", k.groups.channels)}\
        }
    }
${store(block)}\
}

% endif
% endfor
% if k.gather:
static void ${f.name}_gather(const ${k.x_type} *x, int top, int left, ${k.x_type} *to)
{
    for (int kh = 0; kh < ${h.kernel}; kh++) {
        const int row = top + ${times("kh", h.dilation)};
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            const int column = left + ${times("kw", w.dilation)};
% if k.padded:
            if (row < 0 || row >= ${h.size} || column < 0 || column >= ${w.size}) {
                for (int i = 0; i < ${k.groups.channels}; i++) {
                    *to++ = ${k.zero};
                }
                continue;
            }
% endif
            const ${k.x_type} *from = x + ${times("row", h.x_stride)} + ${times("column", w.x_stride)};
            for (int i = 0; i < ${k.groups.channels}; i++) {
                *to++ = *from++;
            }
        }
    }
}

% endif
static void ${f.name}(${f.parameters})
{
% if k.gather:
    ${k.x_type} *const windows = scratch;
    for (int g = 0; g < ${k.groups.count}; g++) {
        int oh = 0;
        int ow = 0;
        for (int n = 0; n < ${h.out * w.out}; n += ${k.pixels}) {
            int at = n;
            if (n > ${h.out * w.out - k.pixels}) {
                at = ${h.out * w.out - k.pixels};
                oh = ${(h.out * w.out - k.pixels) // w.out};
                ow = ${(h.out * w.out - k.pixels) % w.out};
            }
            for (int p = 0; p < ${k.pixels}; p++) {
                ${f.name}_gather(x + ${times("g", k.groups.channels)}, ${plus(times("oh", h.stride), -h.pad)}, ${plus(times("ow", w.stride), -w.pad)}, windows + ${times("p", k.depth)});
                if (++ow == ${w.out}) {
                    ow = 0;
                    oh++;
                }
            }
            const ${k.w_type} *wb = w + ${times("g", k.groups.results * k.depth)};
            int channel = ${times("g", k.groups.results)};
% for block in k.blocks:
            ${f.name}_block${block.width}(windows, wb, b + channel, ${q.arguments("channel")}y + ${times("at", k.groups.all_results)} + channel, ${block.count});
            wb = &wb[${block.count * block.width * k.depth}];
            channel += ${block.count * block.width};
% endfor
        }
    }
% elif k.pointwise:
    for (int g = 0; g < ${k.groups.count}; g++) {
        for (int n = 0; n < ${w.out}; n += ${k.pixels}) {
            const int at = n < ${w.out - k.pixels} ? n : ${w.out - k.pixels};
            const ${k.x_type} *const xr = x + ${times("at", w.stride * w.x_stride)} + ${times("g", k.groups.channels)};
            const ${k.w_type} *wb = w + ${times("g", k.groups.results * k.depth)};
            int channel = ${times("g", k.groups.results)};
% for block in k.blocks:
            ${f.name}_block${block.width}(xr, wb, b + channel, ${q.arguments("channel")}y + ${times("at", k.groups.all_results)} + channel, ${block.count});
            wb = &wb[${block.count * block.width * k.depth}];
            channel += ${block.count * block.width};
% endfor
        }
    }
% else:
    for (int g = 0; g < ${k.groups.count}; g++) {
        for (int oh = 0; oh < ${h.out}; oh++) {
            const int top = ${plus(times("oh", h.stride), -h.pad)};
            const ${k.w_type} *wb = w + ${times("g", k.groups.results * k.depth)};
            int channel = ${times("g", k.groups.results)};
% for block in k.blocks:
            for (int n = 0; n < ${block.count}; n++) {
                ${k.y_type} *const yr = y + ${times("oh", w.out * k.groups.all_results)} + channel;
% for run in k.runs:
% if run.inner:
                ${f.name}_block${block.width}(x + ${times("top", h.x_stride)} + ${plus(times("g", k.groups.channels), (run.first * w.stride - w.pad) * w.x_stride)}, ${"pad, top, " if rows_padded else ""}wb, b + channel, ${q.arguments("channel")}${plus("yr", run.first * k.groups.all_results)}, ${run.count});
% else:
                ${f.name}_edge${block.width}(x + ${times("g", k.groups.channels)}, ${"pad, " if k.padded else ""}top, ${run.first * w.stride - w.pad}, wb, b + channel, ${q.arguments("channel")}${plus("yr", run.first * k.groups.all_results)});
% endif
% endfor
                wb = &wb[${block.width * k.depth}];
                channel += ${block.width};
            }
% endfor
        }
    }
% endif
}
