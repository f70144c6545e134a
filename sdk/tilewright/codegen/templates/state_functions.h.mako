/* Gives the state the values with which a sequence begins. Call it before the first run\
${"; memory that is zero needs no call" if s.zero else ""}.
 * Returns ${m.upper}_OK or an error code. Not during a run. */
int ${m.name}_reset(${m.instance});
% if not m.kit:

/* The state and, where wanted, its bytes: save them after a run and put them back before another one, of the same
 * compilation, to go on from there. */
void *${m.name}_state(${m.first}size_t *size_bytes);
% endif

