<%
fours, rest = divmod(k.width, 4)
%>\
/* The largest bits without a sign of a row, `high` or more. */
TILEWRIGHT_IN_ORDER uint32_t ${f.name}_high(const float *from, uint32_t high)
{
% if fours:
    for (int i = 0; i < ${fours}; i++) {
% for n in range(4):
        uint32_t bits${n} = tilewright_load(from + ${n});
% endfor
        TILEWRIGHT_BOTH(bits0, bits1);
        TILEWRIGHT_BOTH(bits2, bits3);
        from += 4;
% for n in range(4):
        bits${n} &= 0x7FFFFFFFu;
        high = bits${n} > high ? bits${n} : high;
% endfor
    }
% endif
% for n in range(rest):
    high = (tilewright_load(from + ${n}) & 0x7FFFFFFFu) > high ? tilewright_load(from + ${n}) & 0x7FFFFFFFu : high;
% endfor
    return high;
}

/* Codes of finite numbers, of which none is greater than what `ratio` comes of. */
TILEWRIGHT_IN_ORDER void ${f.name}_codes(const float *from, float ratio, int8_t *to)
{
    const float shift = 12582912.0f; /* 3 * 2^22: the last bits are the nearest whole number */
% if fours:
    for (int i = 0; i < ${fours}; i++) {
        float ${", ".join(f"scaled{n} = from[{n}]" for n in range(4))};
        uint32_t ${", ".join(f"bits{n}" for n in range(4))};
        TILEWRIGHT_FOUR_FLOATS(scaled0, scaled1, scaled2, scaled3);
        from += 4;
% for n in range(4):
        scaled${n} *= ratio;
% endfor
        TILEWRIGHT_FOUR_FLOATS(scaled0, scaled1, scaled2, scaled3);
% for n in range(4):
        scaled${n} += shift;
% endfor
        TILEWRIGHT_FOUR_FLOATS(scaled0, scaled1, scaled2, scaled3);
% for n in range(4):
        (void)memcpy(&bits${n}, &scaled${n}, sizeof bits${n});
        to[${n}] = (int8_t)(uint8_t)bits${n};
% endfor
        to += 4;
    }
% endif
% for n in range(rest):
    {
        float scaled = from[${n}] * ratio;
        uint32_t bits;
        TILEWRIGHT_ONE_FLOAT(scaled);
        scaled += shift;
        (void)memcpy(&bits, &scaled, sizeof bits);
        to[${n}] = (int8_t)(uint8_t)bits;
    }
% endfor
}

/* A row with an infinity or what is no number, which counts as nothing. */
static float ${f.name}_any(const float *from, int8_t *to)
{
    float high = ${k.least}, ratio;
    for (int i = 0; i < ${k.width}; i++) {
        const float size = from[i] < 0 ? -from[i] : from[i];
        high = size > high ? size : high;
    }
    ratio = ${k.highest}.0f / high;
    for (int i = 0; i < ${k.width}; i++) {
        const float scaled = from[i] * ratio;
        const float limited = scaled > ${k.highest}.0f ? ${k.highest}.0f : scaled >= -${k.highest}.0f ? scaled : -${k.highest}.0f;
        const float shifted = limited + 12582912.0f;
        to[i] = (int8_t)(uint8_t)tilewright_load(&shifted);
    }
    return high;
}

static void ${f.name}(${f.parameters})
{
    const float least = ${k.least};
    for (int row = 0; row < ${k.rows}; row++) {
        const float *const from = x + row * ${k.width};
        int8_t *const to = codes + row * ${k.width};
        const uint32_t high = ${f.name}_high(from, tilewright_load(&least));
        if (high < 0x7F800000u) {
            (void)memcpy(most + row, &high, sizeof high);
            ${f.name}_codes(from, ${k.highest}.0f / most[row], to);
        } else {
            most[row] = ${f.name}_any(from, to);
        }
    }
}
