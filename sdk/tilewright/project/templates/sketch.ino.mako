<%namespace name="body" file="/body.mako"/>\
/* Runs ${m.name} once a second on zeros and prints what it gives. ${m.tool}.
 * This file is yours: no licence notice is asked for. */
#include <${m.name}.h>

#include <string.h>

${body.state(m)}\
void setup() {
    Serial.begin(115200);
${body.reset(m, "    ")}\
}

void loop() {
${body.fill(m, "    ")}\
    int status = ${m.name}_run(${m.arguments});
    if (status != ${m.upper}_OK) {
        Serial.print("${m.name}_run: error ");
        Serial.println(status);
    } else {
% for index, p in enumerate(m.outputs):
        Serial.print("output ${index}:");
        for (long i = 0; i < (long)(${p.stem}_BYTES / sizeof(${p.c_type})); i++) {
            Serial.print(' ');
            Serial.print((${p.cast})${p.element});
        }
        Serial.println();
% endfor
    }
    delay(1000);
}
