<%
words = k.stride // 4
whole, rest = divmod(k.width, 8)
per_block = k.block // (8 if k.four else 4)
last = (whole if k.four else words) - (k.blocks - 1) * per_block
%>\
<%def name="of_four_bits(halves)">\
% for half in range(halves):
            const uint32_t both${half} = tilewright_load(at + ${4 * half});
% endfor
% for n in range(4):
            const uint32_t word${n} = tilewright_load(w${f" + {4 * n * words}" if n else ""});
% endfor
% for half in range(halves):
            const uint32_t even${half} = tilewright_even(both${half}), odd${half} = tilewright_odd(both${half});
% endfor
% for n in range(4):
% for half in range(halves):
            a${n} = tilewright_smlad(word${n}${f" >> {8 * half}" if half else ""} & 0x000F000Fu, even${half}, a${n});
            a${n} = tilewright_smlad(word${n} >> ${8 * half + 4} & 0x000F000Fu, odd${half}, a${n});
% endfor
% endfor
            w += 4;
            at += ${4 * halves};
</%def>\
<%def name="of_eight_bits()">\
            const uint32_t both = tilewright_load(at);
% for n in range(4):
            const uint32_t word${n} = tilewright_load(w${f" + {4 * n * words}" if n else ""});
% endfor
            const uint32_t even = tilewright_even(both), odd = tilewright_odd(both);
% for n in range(4):
            a${n} = tilewright_smlad(tilewright_even(word${n}), even, a${n});
            a${n} = tilewright_smlad(tilewright_odd(word${n}), odd, a${n});
% endfor
            w += 4;
            at += 4;
</%def>\
% if k.four:
/* What 8 stored with every weight adds to the sums of a block, taken off where they start. */
static void ${f.name}_starts(const int8_t *codes, int32_t *starts)
{
    for (int block = 0; block < ${k.blocks}; block++) {
        int32_t sum = 0;
        const int end = (block + 1) * ${k.block} < ${k.width} ? (block + 1) * ${k.block} : ${k.width};
        for (int i = block * ${k.block}; i < end; i += 4) {
            const uint32_t word = tilewright_load(codes + i);
            sum = tilewright_smlad(tilewright_even(word), 0x00010001u, sum);
            sum = tilewright_smlad(tilewright_odd(word), 0x00010001u, sum);
        }
        starts[block] = -8 * sum;
    }
}

% endif
/* Four outputs of one row of codes. */
TILEWRIGHT_INTO void ${f.name}_four(const int8_t *at, const ${'uint8_t' if k.four else 'int8_t'} *w, const int8_t *factors, ${"const int32_t *starts, " if k.four else ""}float unit, float *y)
{
% for n in range(4):
    int32_t s${n} = 0;
% endfor
    for (int block = 0; block < ${k.blocks}; block++) {
        int32_t ${", ".join(f"a{n} = {'starts[block]' if k.four else '0'}" for n in range(4))};
% if k.blocks == 1:
        TILEWRIGHT_UNROLL_FOUR
        for (int i = 0; i < ${last}; i++) {
% elif last == per_block:
        TILEWRIGHT_UNROLL_FOUR
        for (int i = 0; i < ${per_block}; i++) {
% else:
        const int count = block < ${k.blocks - 1} ? ${per_block} : ${last};
        TILEWRIGHT_UNROLL_FOUR
        for (int i = 0; i < count; i++) {
% endif
${of_four_bits(2) if k.four else of_eight_bits()}\
        }
% if k.four and rest:
        if (block == ${k.blocks - 1}) {
${of_four_bits(1)}\
        }
% endif
% for n in range(4):
        s${n} += a${n} * factors[${n * k.blocks} + block];
% endfor
    }
% for n in range(4):
    y[${n}] = (float)s${n} * unit;
% endfor
}

TILEWRIGHT_IN_ORDER void ${f.name}(${f.parameters})
{
% if k.four:
    int32_t starts[${k.blocks}];
% endif
    for (int row = 0; row < ${k.rows}; row++) {
        const int8_t *const codes = x + row * ${k.width};
        const float unit = most[row] * ${k.unit};
% if k.four:
        ${f.name}_starts(codes, starts);
% endif
        for (int n = 0; n < ${k.outputs}; n += 4) {
            ${f.name}_four(codes, w + n * ${4 * words}, factors + n * ${k.blocks}, ${"starts, " if k.four else ""}unit, y + row * ${k.outputs} + n);
        }
    }
}
