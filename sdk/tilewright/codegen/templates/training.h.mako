/* ${t.name}: learning on the device. ${t.tool}.
 * This file is generated for you and is yours: no licence notice is asked for. */
#ifndef ${t.upper}_TRAINING_H
#define ${t.upper}_TRAINING_H

#include "${t.name}.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Call ${t.name}_reset() first: it gives the parameters the values that the network was trained to. */

#define ${t.upper}_ERROR_OTHER_PARAMETERS 20 /* they are of another compilation, or of another size */

/* One step of training. NULL for what already lies in ${t.step}_input_0() and so on. Returns ${t.upper}_OK or the
 * error of ${t.step}_run.
% if t.accumulate > 1:
 * Parameters move in the last of every ${t.accumulate} calls, by the mean of the gradients of all these.
% endif
% for one in t.given:
 * ${one.name}: ${one.comment}
% endfor
 */
int ${t.name}_train_step(${", ".join(f"const {one.c_type} *{one.name}" for one in t.given)});

/* The loss of the last step, before its update. */
float ${t.name}_loss(void);

/* One inference with the parameters as they are. NULL for an input that already lies in ${t.infer}_input_0(), and for
 * an output that is read from ${t.infer}_output_0().
% for one in (*t.inputs, *t.outputs):
 * ${one.name}: ${one.comment}
% endfor
 */
int ${t.name}_infer(${", ".join([*(f"const {one.c_type} *{one.name}" for one in t.inputs), *(f"{one.c_type} *{one.name}" for one in t.outputs)])});

/* Parameters and what the optimiser keeps of them, for the same compilation: ${t.upper}_PARAMETERS_BYTES of them. */
#define ${t.upper}_PARAMETERS_BYTES (8 + ${t.upper}_STATE_BYTES)
int ${t.name}_save_parameters(void *bytes, size_t size_bytes);
int ${t.name}_load_parameters(const void *bytes, size_t size_bytes);

#ifdef __cplusplus
}
#endif

#endif
