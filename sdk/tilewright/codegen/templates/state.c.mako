
% if not (m.context or m.kit):
/* Memory section of the state, e.g. -D${m.upper}_STATE_SECTION='__attribute__((section(".retained")))'. */
#ifndef ${m.upper}_STATE_SECTION
#define ${m.upper}_STATE_SECTION
#endif
extern unsigned char ${m.state}[${m.upper}_STATE_BYTES];
${m.upper}_STATE_SECTION ${m.upper}_ALIGNED unsigned char ${m.state}[${m.upper}_STATE_BYTES];

% endif
int ${m.name}_reset(${m.instance})
{
% if m.context:
    if (context == NULL) {
        return ${m.upper}_ERROR_NULL_POINTER;
    }
% endif
% if not m.kit:
    (void)memset(${m.state}, 0, ${m.upper}_STATE_BYTES);
% endif
% for one in s.states:
% if m.kit:
    ${one.first or one.zero};
% elif one.first:
    ${one.first};
% endif
% endfor
    return ${m.upper}_OK;
}
% if not m.kit:

void *${m.name}_state(${m.first}size_t *size_bytes)
{
    if (size_bytes != NULL) {
        *size_bytes = ${m.upper}_STATE_BYTES;
    }
    return ${"context == NULL ? NULL : " if m.context else ""}${m.state};
}
% endif
