<%namespace name="parts" file="/descent_parts.c.mako"/>\
static void ${f.name}(${f.parameters})
{
% if k.vector:
    for (int channel = 0; channel < ${k.channels}; channel++) {
        const float value = x[channel], step = ${k.rate} * value;
        float sum = ${"add[channel]" if k.add else "0.0f"};
% for t in k.terms:
% if k.beside:
        sum += tilewright_block_moved(${t.weights} + channel * ${t.product.results}, ${t.gradient}, step, ${t.product.results}, ${t.following} + channel * ${t.product.results});
% else:
        for (int o = 0; o < ${t.product.results}; o++) {
            const int place = channel * ${t.steps[1]} + o * ${t.steps[0]};
            sum = TILEWRIGHT_MULTIPLY_ADD(${t.weights}[place], ${t.gradient}[o], sum);
            ${t.following}[place] = TILEWRIGHT_MULTIPLY_ADD(step, ${t.gradient}[o], ${k.decayed(t.target + "[place]")});
        }
% endif
% endfor
% if k.back:
        dx[channel] = ${"value > 0 ? sum : 0.0f" if k.masked else "sum"};
% else:
        (void)sum;
% endif
    }
% else:
    static const tilewright_product products[${len(k.terms)}] = {
% for t in k.terms:
        ${parts.product(t)},
% endfor
    };
    tilewright_descent_term terms[${len(k.terms)}] = {
% for t in k.terms:
        ${parts.term(t)},
% endfor
    };
    const tilewright_descent descent = {
        ${len(k.terms)}, ${k.block}, ${k.channels}, ${int(k.masked)}, ${k.apart}, ${k.rate}, ${k.decay}, x,
        ${"add" if k.add else "NULL"}, ${"dx" if k.back else "NULL"}, (float *)scratch + ${k.slopes},
        (float *)scratch + ${k.gathered}};
    tilewright_descend(&descent, products, terms);
% endif
}
