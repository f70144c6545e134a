/* One tile: some channels of the operand, with their weights. */
typedef struct {
    int channels;
} ${f.name}_tile;

/* Channels are shared among the cores by fours; where fewer are left, one is taken four times at once. */
static void ${f.name}(${f.parameters})
{
    const int blocks = (tile->channels + 3) / 4, end = tilewright_share(blocks, core + 1, cores);
    for (int block = tilewright_share(blocks, core, cores); block < end; block++) {
        const int left = tile->channels - 4 * block, apart = left < 4 ? 0 : 1;
        for (int channel = 4 * block; channel < tile->channels && channel < 4 * block + 4; channel += apart ? 4 : 1) {
            float sums[4], steps[4];
            for (int lane = 0; lane < 4; lane++) {
                steps[lane] = ${k.rate} * x[channel + lane * apart];
                sums[lane] = ${"add[channel + lane * apart]" if k.add else "0.0f"};
            }
% for t in k.terms:
<% place = times("channel", t.results) if t.turned else "channel" %>\
            tilewright_vector_moved(${t.weights} + ${place}, ${t.target} + ${place}, ${t.following} + ${place}, ${f"{t.results} * apart" if t.turned else "apart"}, ${"1" if t.turned else "tile->channels"}, ${t.gradient}, ${t.results}, steps, ${k.decay}, sums);
% endfor
% if k.back:
            for (int lane = 0; lane < (apart ? 4 : 1); lane++) {
                dx[channel + lane] = ${"x[channel + lane] > 0.0f ? sums[lane] : 0.0f" if k.masked else "sums[lane]"};
            }
% else:
            (void)sums;
% endif
        }
    }
}
