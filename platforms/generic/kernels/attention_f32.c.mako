<%
S, D, V = k.size, k.size.depth, k.size.value_depth
limit = "length" if k.lengths else str(S.keys)
held = D <= 16
def dot(start, count):
    return " + ".join(f"{f'q{start + e}' if held else f'query[e + {e}]'} * key[{start + e if held else f'e + {e}'}]" for e in range(count))
%>\
static void ${f.name}(${f.parameters})
{
    float *const weight = (float *)scratch;
    for (int entry = 0; entry < ${S.batch}; entry++) {
% if k.lengths:
        const int64_t asked = nonpad_kv_seqlen[entry];
        const int length = asked < 0 ? 0 : asked > ${S.keys} ? ${S.keys} : (int)asked;
% endif
        for (int line = 0; line < ${S.query_heads * S.queries}; line++) {
            const int head = line / ${S.queries}, row = entry * ${S.query_heads * S.queries} + line;
            const float *const query = q + row * ${D};
            const float *key = k + (entry * ${S.key_heads} + head / ${k.group}) * ${S.keys * D};
            const float *const values = v + (entry * ${S.key_heads} + head / ${k.group}) * ${S.keys * V};
            float *const out = y + row * ${V};
% if k.mask:
            const float *const added = mask + entry * ${k.mask_steps[0]} + head * ${k.mask_steps[1]} + line % ${S.queries} * ${k.mask_steps[2]};
% endif
% if held:
            const float ${", ".join(f"q{e} = query[{e}]" for e in range(D))};
% endif
            float high = -INFINITY;
            for (int j = 0; j < ${limit}; j++) {
% if held:
                float score = ${dot(0, D)};
% else:
                float score = 0;
                for (int e = 0; e < ${D - D % 4}; e += 4) {
                    score += ${dot(0, 4)};
                }
% for e in range(D - D % 4, D):
                score += query[${e}] * key[${e}];
% endfor
% endif
                score = score * ${k.root}${" + added[j]" if k.mask else ""};
                weight[j] = score;
                high = score > high || score != score ? score : high;
                key += ${D};
            }
            float total = 0;
            for (int j = 0; j < ${limit}; j++) {
                const float power = ${"weight[j] == -INFINITY ? 0 : " if k.mask else ""}expf(weight[j] - high);
                weight[j] = power;
                total += power;
            }
            const float share = total == 0 ? 0 : 1 / total;
% for begin in range(0, V, 4):
<% columns = range(begin, min(begin + 4, V)) %>\
            {
                const float *value = values${f" + {begin}" if begin else ""};
                float ${", ".join(f"sum{c - begin} = 0" for c in columns)};
                for (int j = 0; j < ${limit}; j++) {
% for c in columns:
                    sum${c - begin} += weight[j] * value[${c - begin}];
% endfor
                    value += ${V};
                }
% for c in columns:
                out[${c}] = sum${c - begin} * share;
% endfor
            }
% endfor
        }
    }
}
