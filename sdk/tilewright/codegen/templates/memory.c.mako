% if m.arena_bytes:
#ifdef ${m.upper}_EXTERNAL_ARENA
% if not m.context:
static unsigned char *${m.name}_arena;

% endif
int ${m.name}_init(${m.first}void *memory, size_t size_bytes)
{
    if (${"context == NULL || " if m.context else ""}memory == NULL) {
        return ${m.upper}_ERROR_NULL_POINTER;
    }
    if (size_bytes < ${m.upper}_ARENA_BYTES) {
        return ${m.upper}_ERROR_ARENA_TOO_SMALL;
    }
    if ((uintptr_t)memory % ${m.upper}_ARENA_ALIGN != 0) {
        return ${m.upper}_ERROR_ARENA_MISALIGNED;
    }
    ${m.arena} = memory;
    return ${m.upper}_OK;
}
% if not m.context:
#else
extern unsigned char ${m.name}_arena[${m.upper}_ARENA_BYTES];
${m.upper}_ARENA_SECTION ${m.upper}_ALIGNED unsigned char ${m.name}_arena[${m.upper}_ARENA_BYTES];
% endif
#endif
% else:
#ifdef ${m.upper}_EXTERNAL_ARENA
int ${m.name}_init(${m.first}void *memory, size_t size_bytes)
{
% if m.context:
    if (context == NULL) {
        return ${m.upper}_ERROR_NULL_POINTER;
    }
% endif
    (void)memory;
    (void)size_bytes;
    return ${m.upper}_OK;
}
#endif
% endif
