<%
c = k.lstm
s = c.sizes
H, I = s.hidden, s.inputs
width = 8 + 4 * c.ratios
inputs, states = c.input_depth // 4, c.state_depth // 4
unit = 4 * (inputs + states)
sums = range(12)
last = 8 * states * (s.steps % 2)
%>\
<%def name="summed(count, text, first, codes)">\
            {
                const int8_t *${", *".join(f"x{place} = {name}" for place, name in enumerate(codes))};
#ifdef TILEWRIGHT_XPULP
                const int32_t words = ${count};
                __asm__ volatile(
${text}
                    : [w] "+&r"(weights), ${", ".join(f'[x{place}] "+&r"(x{place})' for place in range(len(codes)))},
                      ${", ".join(f'[s{n}] "+&r"(s{first + n})' for n in range(4 * len(codes)))}
                    : [words] "r"(words)
                    : "memory", "t0", "t1", "t2", "t3", "t4", "t5", "t6");
#else
                for (int word = 0; word < ${count}; word++) {
% for place in range(len(codes)):
                    const uint32_t code${place} = tilewright_word(x${place});
                    x${place} += 4;
% for gate in range(4):
<% dot = "dot" if (place == 0 and (k.signed or first)) else "unsigned_dot" %>\
                    s${first + 4 * place + gate} = tilewright_${dot}(s${first + 4 * place + gate}, code${place}, (uint32_t)weights[${gate}]);
% endfor
% endfor
                    weights += 4;
                }
#endif
            }
</%def>\
/* All of a layer: entries of a batch. */
typedef struct {
    int entries;
} ${f.name}_tile;

/* The units of every step are shared among the cores: each sums its four gates, which no other core needs. */
static void ${f.name}(${f.parameters})
{
    volatile int32_t *const told = (volatile int32_t *)scratch;
    int32_t *const c = (int32_t *)scratch + 8;
    int8_t *const input = (int8_t *)(void *)(c + ${H});
    int8_t *const states = input + ${8 * inputs};
    const int first = tilewright_share(${H}, core, cores), end = tilewright_share(${H}, core + 1, cores);
    const int front = tilewright_share(${I}, core, cores), back = tilewright_share(${I}, core + 1, cores);
    if (phase == 0) {
        told[core] = 0;
        if (core == 0) {
            (void)memset(input, 0, ${8 * inputs + 16 * states});
        }
        return;
    }
    const int16_t *const zero = curve + 512;
    const int32_t none = x_zero[0];
    int32_t turn = 0, distance;
    const int32_t mantissa = tilewright_mantissa(x_scale[0] * ${c.factor}, &distance);
    const int32_t right = distance > 0 ? distance : 0;
    const int32_t left = distance < 0 ? -distance : 0;
    const int32_t half = right > 0 ? (int32_t)1 << (right - 1) : 0;
% for n, backwards in enumerate(s.directions):
    for (int entry = 0; entry < tile->entries; entry++) {
        const ${c.x_type} *codes = x + ${plus(times('entry', I), (s.steps - 1) * s.batch * I if backwards else 0)};
        for (int i = first; i < end; i++) {
            const int32_t start = ${f"tilewright_whole(initial_h[{plus(times('entry', H), n * s.batch * H)} + i], 32768.0f, 32767.0f)" if c.start_h else "0"};
            states[i] = (int8_t)(start >> 8);
            states[${4 * states} + i] = (int8_t)(uint8_t)((uint32_t)start & 255u);
            c[i] = ${f"tilewright_whole(initial_c[{plus(times('entry', H), n * s.batch * H)} + i], 1048576.0f, 1073741824.0f)" if c.start_c else "0"};
        }
        for (int i = front; i < back; i++) {
            input[i] = (int8_t)codes[i];
        }
        tilewright_cores_meet(told, core, cores, ++turn);
        for (int step = 0; step < ${s.steps}; step++) {
            const int odd = step & 1;
            const int8_t *const line = input + odd * ${4 * inputs}, *const state = states + odd * ${8 * states};
            int8_t *const next = states + ${8 * states} - odd * ${8 * states};
            const int32_t *row = ${plus("table", n * H * width)} + first * ${width};
            const int32_t *share = ${plus("shares", n * H * 4)} + first * 4;
            const int32_t *weights = ${plus("w", n * H * unit)} + first * ${unit};
% if c.results[0]:
            float *const to = y + ${times(f"({s.steps - 1} - step)" if backwards else "step", len(s.directions) * s.batch * H)} + ${plus(times('entry', H), n * s.batch * H)};
% endif
            if (step < ${s.steps - 1}) { /* the input of the next step lies beside that of this one */
                int8_t *const after = input + ${4 * inputs} - odd * ${4 * inputs};
                codes ${"-" if backwards else "+"}= ${s.batch * I};
                for (int i = front; i < back; i++) {
                    after[i] = (int8_t)codes[i];
                }
            }
            for (int i = first; i < end; i++) {
                int32_t ${", ".join(f"s{place} = 0" for place in sums)};
                int32_t gate[4];
${summed(inputs, k.input_text, 0, ["line"])}\
${summed(states, k.state_text, 4, ["state", f"state + {4 * states}"])}\
% for g in range(4):
                {
                    const uint32_t high = (uint32_t)s${4 + g}, both = (high << 8) + (uint32_t)s${8 + g};
                    const int32_t entered = s${g} - none * share[${g}];
% if c.ratios:
                    const int32_t sum = TILEWRIGHT_HIGH(entered * ${1 << c.lift + 1}, row[${8 + g}], 0);
% else:
                    const int32_t sum = entered${f" * {1 << c.lift}" if c.lift else ""};
% endif
                    const int32_t own = TILEWRIGHT_HIGH((int32_t)both, row[${4 + g}], ${1 << c.shift - 1}) >> ${c.shift};
                    const int32_t part = TILEWRIGHT_HIGH(sum, mantissa, half) >> right;
                    gate[${g}] = row[${g}] + own + (left != 0 ? tilewright_widened(part, left) : part);
                }
% endfor
                row += ${width};
                share += 4;
                const int32_t entered = (TILEWRIGHT_CURVE(zero, gate[0]) + 32768) * TILEWRIGHT_CURVE_OF_TWICE(zero, gate[3]);
                const int64_t kept = (int64_t)c[i] * (TILEWRIGHT_CURVE(zero, gate[2]) + 32768) + 32768;
                const int32_t cell = (int32_t)(kept >> 16) + ((entered + 1024) >> 11);
                const int32_t shown = cell >> 4;
                const int32_t h = ((TILEWRIGHT_CURVE(zero, gate[1]) + 32768) * TILEWRIGHT_CURVE_OF_TWICE(zero, shown) + 32768) >> 16;
                c[i] = cell;
                next[i] = (int8_t)(h >> 8);
                next[${4 * states} + i] = (int8_t)(uint8_t)((uint32_t)h & 255u);
% if c.results[0]:
                tilewright_whole_store(to + i, (int32_t)tilewright_whole_float(h, -15));
% endif
            }
            tilewright_cores_meet(told, core, cores, ++turn);
        }
% if any(c.results[1:]):
        for (int i = first; i < end; i++) {
% if c.results[1]:
            const int32_t high = states[${plus("i", last)}], low = states[${plus("i", last + 4 * states)}] & 255;
            tilewright_whole_store(y_h + ${plus(times('entry', H), n * s.batch * H)} + i, (int32_t)tilewright_whole_float(high * 256 + low, -15));
% endif
% if c.results[2]:
            tilewright_whole_store(y_c + ${plus(times('entry', H), n * s.batch * H)} + i, (int32_t)tilewright_whole_float(c[i], -20));
% endif
        }
% endif
    }
% endfor
}
