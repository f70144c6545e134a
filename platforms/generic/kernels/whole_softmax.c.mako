<%
at = times("i", k.step)
%>\
static void ${f.name}(${f.parameters})
{
    for (int row = ${k.first}; row < ${k.end}; row++) {
        const int first = ${k.start};
        const float *const from = x + first;
        float *const to = y + first;
        const uint32_t highest = tilewright_softmax_top(from, ${k.length}, ${k.step});
        const uint32_t largest = tilewright_softmax_largest(from, ${k.length}, ${k.step});
        const uint32_t top = tilewright_softmax_near(from, ${k.length}, ${k.step}, largest);
        const int left = (int)top - 130, right = 130 - (int)top;
        const uint32_t limit = left > 31 ? 0u : left > 0 ? 0xFFFFFFFFu >> (uint32_t)left : 0xFFFFFFFFu;
        const int32_t high = tilewright_whole_of(largest, top);
        uint64_t total = 0;
% if not k.log:
        uint64_t sum;
        uint32_t share, part;
        uint32_t more = 0;
% endif
        if (highest == 255u || highest == 0u) {
            for (int i = 0; i < ${k.length}; i++) {
                tilewright_whole_store(to + ${at}, 0x7FC00000);
            }
            continue;
        }
        for (int i = 0; i < ${k.length}; i++) {
            const uint32_t bits = tilewright_whole_bits(from + ${at});
            const bool far = bits == 0xFF800000u || tilewright_softmax_far(bits, largest);
            const uint32_t away = far ? 0u : (uint32_t)high - (uint32_t)tilewright_whole_of(bits, top); /* below 2^31 */
            int32_t power = 0;
            if (!far) {
                /* the difference times log2(e), 2^24 for 1 */
                const uint32_t inside = away < limit ? away : limit;
                const uint32_t steps = (uint32_t)((uint64_t)(left > 0 ? inside << ((uint32_t)left & 31u) : inside) * 1549082005u >> 32);
                const uint32_t moved = right > 0 ? (right < 32 ? steps >> (uint32_t)right : 0u) : steps;
                power = (away != 0u && left > 31) || moved >= 31u << 24 ? 0 : tilewright_fixed_power(moved);
            }
            total += (uint32_t)power;
% if k.log:
            const uint32_t kept = far ? bits : away; /* of both only what is far has a sign */
            tilewright_whole_store(to + ${at}, (int32_t)kept);
% else:
            tilewright_whole_store(to + ${at}, power);
% endif
        }
% if k.log:
        /* the largest element's power is 2^30 */
        const uint64_t others = total - 1073741824u;
        const float logarithm = log1pf((float)others * 9.31322575e-10f);
        for (int i = 0; i < ${k.length}; i++) {
            const int32_t away = tilewright_whole_load(to + ${at});
            const float below = away < 0 ? tilewright_whole_real_of((uint32_t)away) - tilewright_whole_real_of(largest) : -tilewright_whole_real_of(tilewright_whole_float(away, (int)top - 156));
            const float result = below - logarithm;
            (void)memcpy(to + ${at}, &result, sizeof result);
        }
% else:
        part = (uint32_t)(total >> 30);
        while (more < 31u && part >> more > 1u) {
            more++;
        }
        sum = total >> more;
        share = tilewright_fixed_reciprocal((uint32_t)sum);
        for (int i = 0; i < ${k.length}; i++) {
            const uint32_t power = (uint32_t)tilewright_whole_load(to + ${at}) << 1;
            const uint64_t product = (uint64_t)power * share << 1;
            const int32_t result = (int32_t)(uint32_t)(product >> 32);
            tilewright_whole_store(to + ${at}, (int32_t)tilewright_whole_float(result, -30 - (int)more));
        }
% endif
    }
}
