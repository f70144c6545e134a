<%
q = k.requantise
pairs = range(4)
%>\
${k.attribute} static void ${f.name}_block(const ${k.x_type} *x, const int32_t *w, const int32_t *b, ${q.parameters}${k.y_type} *y)
{
    uint32_t half = 32768u;
    TILEWRIGHT_HIDE(half);
% for o in pairs:
    uint32_t t${o} = 0;
    int32_t h${o} = 0;
% endfor
    const ${k.x_type} *const end = x + ${k.depth};
    do {
        TILEWRIGHT_HIDE(w);
% for u in (0, 2):
        {
            const uint32_t v0 = (uint32_t)(int32_t)x[${u}];
            const uint32_t v1 = (uint32_t)(int32_t)x[${u + 1}];
            uint32_t p;
% for o in pairs:
            p = v0 * (uint32_t)w[${u * 4 + o}] + half;
            p += v1 * (uint32_t)w[${(u + 1) * 4 + o}];
            t${o} += p;
            h${o} += (int32_t)p >> 16;
% endfor
        }
% endfor
        x += 4;
        w += 16;
    } while (x != end);
    int32_t acc[8];
% for o in pairs:
    acc[${2 * o}] = (int32_t)(t${o} - ((uint32_t)h${o} << 16) - ${k.depth // 2 * 32768}u) + b[${2 * o}];
    acc[${2 * o + 1}] = h${o} + b[${2 * o + 1}];
% endfor
    int32_t code;
% for name, value in q.of_layer:
    const int32_t ${name} = ${value};
% endfor
    for (int o = 0; o < 8; o++) {
% for c_type, name in q.of_channel:
        const ${c_type} ${name} = ${name}s[o];
% endfor
        code = ${q.code("acc[o]")};
        code = code < low ? low : code;
        code = code > high ? high : code;
        y[o] = (${k.y_type})code;
    }
}

static void ${f.name}(${f.parameters})
{
    for (int o = 0; o < ${k.columns}; o += 8) {
        ${f.name}_block(a, w + o * ${k.depth // 2}, bias + o, ${q.arguments("o")}y + o);
    }
}
