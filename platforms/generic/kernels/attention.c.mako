<%
S, R = k.size, k.real
def new(name, depth):
    if S.packed:
        return f"{name} + (entry * {S.new_keys} + j - {S.past}) * {S.key_heads * depth} + shared * {depth}"
    return f"{name} + ((entry * {S.key_heads} + shared) * {S.new_keys} + j - {S.past}) * {depth}"
def row(name, past, depth):
    if not S.past:
        return new(name, depth).replace(" - 0", "")
    return f"j < {S.past} ? {past} + ((entry * {S.key_heads} + shared) * {S.past} + j) * {depth} : {new(name, depth)}"
%>\
${f.storage} void ${f.name}(${f.parameters})
{
    ${R} *const weight = (${R} *)scratch;
% for name in k.unread:
    (void)${name};
% endfor
    for (int entry = 0; entry < ${S.batch}; entry++) {
% if k.present_key or k.present_value:
        for (int shared = 0; shared < ${S.key_heads}; shared++) {
            for (int j = 0; j < ${S.keys}; j++) {
% if k.present_key:
                const ${k.c_type} *const key = ${row("k", "past_key", S.depth)};
                (void)memcpy(present_key + ((entry * ${S.key_heads} + shared) * ${S.keys} + j) * ${S.depth}, key, ${S.depth} * sizeof *key);
% endif
% if k.present_value:
                const ${k.c_type} *const value = ${row("v", "past_value", S.value_depth)};
                (void)memcpy(present_value + ((entry * ${S.key_heads} + shared) * ${S.keys} + j) * ${S.value_depth}, value, ${S.value_depth} * sizeof *value);
% endif
            }
        }
% endif
% if k.lengths:
        const int64_t asked = nonpad_kv_seqlen[entry];
        const int length = asked < 0 ? 0 : asked > ${S.keys} ? ${S.keys} : (int)asked;
% endif
        for (int line = 0; line < ${S.query_heads * S.queries}; line++) {
            const int head = line / ${S.queries}, i = line % ${S.queries}, shared = head / ${k.group};
% if S.packed:
            const int first = (entry * ${S.queries} + i) * ${S.query_heads};
            const ${k.c_type} *const query = q + (first + head) * ${S.depth};
            ${k.c_type} *const out = y + (first + head) * ${S.value_depth};
% else:
            const int first = (entry * ${S.query_heads} + head) * ${S.queries} + i;
            const ${k.c_type} *const query = q + first * ${S.depth};
            ${k.c_type} *const out = y + first * ${S.value_depth};
% endif
% if k.scores:
            ${k.c_type} *const shown = scores + ((entry * ${S.query_heads} + head) * ${S.queries} + i) * ${S.keys};
% endif
            ${R} high = -INFINITY;
            for (int j = 0; j < ${S.keys}; j++) {
                const ${k.c_type} *const key = ${row("k", "past_key", S.depth)};
                ${R} score = 0;
                for (int e = 0; e < ${S.depth}; e++) {
                    score += ${k.real_of("query[e]")} * ${k.real_of("key[e]")};
                }
                score *= ${k.root};
% if k.scores and k.mode == 0:
                shown[j] = ${k.element_of("score")};
% endif
% if k.cap:
                score = tanh${k.f}(score / ${k.cap}) * ${k.cap};
% endif
% if k.scores and k.mode == 1:
                shown[j] = ${k.element_of("score")};
% endif
                int seen = 1;
% if k.causal or k.left >= 0 or k.right >= 0:
                const int distance = ${f"length - {S.queries}" if k.lengths else S.past} + i - j;
% endif
% if k.causal:
                seen = seen && distance >= 0;
% endif
% if k.left >= 0:
                seen = seen && distance <= ${k.left};
% endif
% if k.right >= 0:
                seen = seen && -distance <= ${k.right};
% endif
% if k.lengths:
                seen = seen && j < length;
% endif
% if k.mask:
<% steps = k.mask_steps %>\
                const int masked = entry * ${steps[0]} + head * ${steps[1]} + i * ${steps[2]} + j;
% if k.mask_keys < S.keys:
                seen = seen && j < ${k.mask_keys};
% endif
% if k.mask_is_bool:
                seen = seen && mask[masked] != 0;
% else:
                score = seen ? score + ${k.mask_of("mask[masked]")} : score;
                seen = seen && ${k.mask_of("mask[masked]")} != -INFINITY;
% endif
% endif
                weight[j] = seen ? score : -INFINITY;
                if (weight[j] > high || weight[j] != weight[j]) {
                    high = weight[j];
                }
% if k.scores and k.mode == 2:
                shown[j] = ${k.element_of("weight[j]")};
% endif
            }
            ${R} total = 0;
            for (int j = 0; j < ${S.keys}; j++) {
                weight[j] = weight[j] == -INFINITY ? 0 : exp${k.f}(weight[j] - high);
                total += weight[j];
            }
            for (int j = 0; j < ${S.keys}; j++) {
                weight[j] = total == 0 ? 0 : weight[j] / total;
% if k.scores and k.mode == 3:
                shown[j] = ${k.element_of("weight[j]")};
% endif
            }
            for (int e = 0; e < ${S.value_depth}; e++) {
                ${R} acc = 0;
                for (int j = 0; j < ${S.keys}; j++) {
                    const ${k.c_type} *const value = ${row("v", "past_value", S.value_depth)};
                    acc += weight[j] * ${k.real_of("value[e]")};
                }
                out[e] = ${k.element_of("acc")};
            }
        }
    }
}
