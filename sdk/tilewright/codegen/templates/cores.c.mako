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
% for declaration, name in m.pointers:
    ${declaration} = work->${name};
% endfor
    ${m.kernel}(${"".join(f"{name}, " for _, name in m.pointers)}&work->tile, ${which}core, cores);
}
% endfor
% if m.jobs:

static void ${m.kernel}_writing(const ${m.kernel}_work *work, int job)
{
% for declaration, name in m.pointers:
    ${declaration} = work->${name};
% endfor
    ${m.kernel}_write(${"".join(f"{name}, " for _, name in m.pointers)}&work->tile, job);
}
% endif
