<%
q, h, w = k.requantise, k.h, k.w
wide = range(k.pixels)
channels = k.packed.channels if k.packed else k.groups.results
first = " + first" if k.packed else ""
%>\
<%def name="weights()">${f"unpacked + {times('o', k.padded_depth)}" if k.packed else f"w + {times('channel', k.padded_depth)}"}</%def>\
<%def name="product(name, count)">
${k.attribute} ${f.storage} void ${f.name}_${name}(const ${k.x_type if k.direct else "int16_t"} *${f.restrict}patches, const ${k.w_type} *${f.restrict}w, const int32_t *${f.restrict}b, ${q.parameters}${k.y_type} *${f.restrict}y)
{
% for p in wide:
    const ${k.x_type if k.direct else "int16_t"} *${f.restrict}x${p} = ${plus("patches", p * k.padded_depth)};
% endfor
% for o in range(count):
    const ${k.w_type} *${f.restrict}w${o} = ${plus("w", o * k.padded_depth)};
% endfor
    int32_t acc[${k.pixels}][${count}];
% for p in wide:
% for o in range(count):
    int32_t s${p}${o} = b[${o}];
% endfor
% endfor
    for (int i = 0; i < ${k.padded_depth}; i++) {
% for p in wide:
% if k.direct:
        const int16_t v${p} = (int16_t)(x${p}[i] - ${k.offset});
% endif
% for o in range(count):
        s${p}${o} += (int32_t)${f"v{p}" if k.direct else f"x{p}[i]"} * w${o}[i];
% endfor
% endfor
    }
% for p in wide:
% for o in range(count):
    acc[${p}][${o}] = s${p}${o};
% endfor
% endfor
    for (int o = 0; o < ${count}; o++) {
% for declaration in q.declarations("o"):
        ${declaration}
% endfor
        for (int p = 0; p < ${k.pixels}; p++) {
            int32_t code = ${q.code("acc[p][o]", "o", q.held)};
            code = code < ${q.low} ? ${q.low} : code;
            code = code > ${q.high} ? ${q.high} : code;
            y[${times("p", k.groups.all_results)} + o] = (${k.y_type})code;
        }
    }
}
</%def>\
% if k.patch:
${k.attribute} ${f.storage} void ${f.name}_gather(const ${k.x_type} *${f.restrict}x, int top, int left, int16_t *${f.restrict}patch)
{
    for (int kh = 0; kh < ${h.kernel}; kh++) {
        const int row = top + ${times("kh", h.dilation)};
        int16_t *${f.restrict}to = patch + ${times("kh", w.kernel * k.groups.channels)};
% if w.dilation == 1 and k.groups.count == 1:
        if (row >= 0 && row < ${h.size} && left >= 0 && ${plus("left", w.kernel)} <= ${w.size}) {
            const ${k.x_type} *${f.restrict}from = x + ${times("row", h.x_stride)} + ${times("left", w.x_stride)};
            for (int i = 0; i < ${w.kernel * k.groups.channels}; i++) {
                to[i] = from[i];
            }
            continue;
        }
% endif
        for (int kw = 0; kw < ${w.kernel}; kw++) {
            const int column = left + ${times("kw", w.dilation)};
            if (row >= 0 && row < ${h.size} && column >= 0 && column < ${w.size}) {
                const ${k.x_type} *${f.restrict}from = x + ${times("row", h.x_stride)} + ${times("column", w.x_stride)};
                for (int i = 0; i < ${k.groups.channels}; i++) {
                    to[${times("kw", k.groups.channels)} + i] = from[i];
                }
            } else {
                for (int i = 0; i < ${k.groups.channels}; i++) {
                    to[${times("kw", k.groups.channels)} + i] = ${k.zero};
                }
            }
        }
    }
}

% elif not k.direct:
${k.attribute} ${f.storage} void ${f.name}_gather(const ${k.x_type} *${f.restrict}x, int16_t *${f.restrict}patch)
{
    for (int i = 0; i < ${k.depth}; i++) {
        patch[i] = x[i];
    }
}

% endif
% if channels >= k.together:
${product("several", k.together)}
% endif
% if channels % k.together:
${product("single", 1)}
% endif
% if k.packed:
/* Weights of some channels: a byte holds one of the first half of a row and, above it, one of the second. */
${k.attribute} ${f.storage} void ${f.name}_unpack(const uint8_t *${f.restrict}w, int8_t *${f.restrict}unpacked)
{
    for (int c = 0; c < ${channels}; c++) {
        for (int i = 0; i < ${k.padded_depth // 2}; i++) {
            const int32_t low = w[i] & 15, high = w[i] >> 4;
            unpacked[i] = (int8_t)(${k.packed.of("low")});
            unpacked[${plus("i", k.padded_depth // 2)}] = (int8_t)(${k.packed.of("high")});
        }
        w += ${k.padded_depth // 2};
        unpacked += ${k.padded_depth};
    }
}

% endif
${f.storage} void ${f.name}(${f.parameters})
{
% if not k.direct:
    int16_t *const patches = scratch;
% endif
% if k.padded_depth > k.depth:
    for (int p = 0; p < ${k.pixels}; p++) {
        for (int i = ${k.depth}; i < ${k.padded_depth}; i++) {
            patches[${times("p", k.padded_depth)} + i] = 0;
        }
    }
% endif
% if k.packed:
    int8_t *const unpacked = (int8_t *)(patches + ${k.pixels * k.padded_depth});
    for (int part = 0; part < ${k.groups.count * k.packed.parts}; part++) {
        const int g = part / ${k.packed.parts}, next = part % ${k.packed.parts} * ${channels};
        const int first = next < ${k.groups.results - channels} ? next : ${k.groups.results - channels};
        ${f.name}_unpack(w + (${times("g", k.groups.results)} + first) * ${k.padded_depth // 2}, unpacked);
% else:
    for (int g = 0; g < ${k.groups.count}; g++) {
% endif
        for (int n = 0; n < ${k.results}; n += ${k.pixels}) {
            const int at = n < ${k.results - k.pixels} ? n : ${k.results - k.pixels};
% if k.direct:
            const ${k.x_type} *const patches = ${k.x_name} + ${times("at", k.x_channels)} + ${times("g", k.groups.channels)};
% else:
            for (int p = 0; p < ${k.pixels}; p++) {
% if k.patch:
                const int top = ${plus(times(f"(at + p) / {w.out}", h.stride), -h.pad)};
                const int left = ${plus(times(f"(at + p) % {w.out}", w.stride), -w.pad)};
                ${f.name}_gather(${k.x_name} + ${times("g", k.groups.channels)}, top, left, patches + ${times("p", k.padded_depth)});
% else:
                ${f.name}_gather(${k.x_name} + ${times("(at + p)", k.x_channels)} + ${times("g", k.groups.channels)}, patches + ${times("p", k.padded_depth)});
% endif
            }
% endif
            ${k.y_type} *const yr = y + ${times("at", k.groups.all_results)} + ${times("g", k.groups.results)}${first};
            int o = 0;
% if channels >= k.together:
            for (; ${plus("o", k.together)} <= ${channels}; o += ${k.together}) {
                const int channel = ${times("g", k.groups.results)}${first} + o;
                ${f.name}_several(patches, ${weights()}, ${k.bias_name} + channel, ${q.arguments("channel")}yr + o);
            }
% endif
% if channels % k.together:
            for (; o < ${channels}; o++) {
                const int channel = ${times("g", k.groups.results)}${first} + o;
                ${f.name}_single(patches, ${weights()}, ${k.bias_name} + channel, ${q.arguments("channel")}yr + o);
            }
% endif
        }
    }
}
