/* ${t.name}: learning on the device. ${t.tool}.
 * This file is generated for you and is yours: no licence notice is asked for. */
#include "${t.name}_training.h"

#include <string.h>

static float last_loss;

int ${t.name}_train_step(${", ".join(f"const {one.c_type} *{one.name}" for one in t.given)})
{
    int status;

% for one in t.given:
    if (${one.name} != NULL) {
        memcpy(${t.step}_input_${one.index}(), ${one.name}, ${one.size_bytes}u);
    }
% endfor
    status = ${t.step}_run();
    if (status == ${t.step.upper()}_OK) {
        memcpy(&last_loss, ${t.step}_output_0(), sizeof last_loss);
    }
    return status;
}

float ${t.name}_loss(void)
{
    return last_loss;
}

int ${t.name}_infer(${", ".join([*(f"const {one.c_type} *{one.name}" for one in t.inputs), *(f"{one.c_type} *{one.name}" for one in t.outputs)])})
{
    int status;

% for one in t.inputs:
    if (${one.name} != NULL) {
        memcpy(${t.infer}_input_${one.index}(), ${one.name}, ${one.size_bytes}u);
    }
% endfor
    status = ${t.infer}_run();
    if (status != ${t.infer.upper()}_OK) {
        return status;
    }
% for one in t.outputs:
    if (${one.name} != NULL) {
        memcpy(${one.name}, ${t.infer}_output_${one.index}(), ${one.size_bytes}u);
    }
% endfor
    return ${t.upper}_OK;
}

int ${t.name}_save_parameters(void *bytes, size_t size_bytes)
{
    const uint32_t head[2] = {${t.upper}_BUILD, ${t.upper}_STATE_BYTES};

    if (bytes == NULL || size_bytes < ${t.upper}_PARAMETERS_BYTES) {
        return ${t.upper}_ERROR_OTHER_PARAMETERS;
    }
    memcpy(bytes, head, sizeof head);
    memcpy((unsigned char *)bytes + sizeof head, ${t.name}_state(NULL), ${t.upper}_STATE_BYTES);
    return ${t.upper}_OK;
}

int ${t.name}_load_parameters(const void *bytes, size_t size_bytes)
{
    const uint32_t head[2] = {${t.upper}_BUILD, ${t.upper}_STATE_BYTES};

    if (bytes == NULL || size_bytes < ${t.upper}_PARAMETERS_BYTES || memcmp(bytes, head, sizeof head) != 0) {
        return ${t.upper}_ERROR_OTHER_PARAMETERS;
    }
    memcpy(${t.name}_state(NULL), (const unsigned char *)bytes + sizeof head, ${t.upper}_STATE_BYTES);
    return ${t.upper}_OK;
}
