/* What the cores are given of one tile. */
typedef struct {
% for declaration in m.declarations:
    ${declaration};
% endfor
    ${m.tile_type} tile;
% if m.jobs:
    int job;
% endif
} ${m.kernel}_work;
% for function, which in m.functions:

static void ${function}(const void *given, int core, int cores)
{
    const ${m.kernel}_work *const work = given;
    ${m.kernel}(${"".join(f"work->{name}, " for name in m.names)}&work->tile, ${which}core, cores);
}
% endfor
% if m.jobs:

static void ${m.kernel}_writing(const ${m.kernel}_work *work, int job)
{
    ${m.kernel}_write(${"".join(f"work->{name}, " for name in m.names)}&work->tile, job);
}
% endif
