<%namespace name="body" file="/body.mako"/>\
/* Runs ${m.name} once on zeros and prints what it gives. ${m.tool}.
 * This file is yours: no licence notice is asked for. */
#include "${m.name}.h"

#include <stdio.h>
#include <string.h>

${body.state(m)}\
${result} ${main}(void)
{
    int status;
    long i;
${body.reset(m, "    ")}\
${body.fill(m, "    ")}\
    status = ${m.name}_run(${m.arguments});
    if (status != ${m.upper}_OK) {
        printf("${m.name}_run: error %d, see ${m.name}.h\n", status);
        return${' 1' if result == 'int' else ''};
    }
${body.show(m, "    ")}\
% if result == "int":
    return 0;
% endif
}
