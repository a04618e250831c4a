/* The parts of a model's firmware beside predictions. `protonn-edge build` generates a list of them,
 * MODEL_PARTS(hook), which applies a macro to the name of each; a part has a header of its name, which
 * defines:
 *
 *     union NAME_payload                    the payload of its requests and replies
 *     bool NAME_knows(type)                 whether it answers requests of a type
 *     uint8_t NAME_answer(payload, type, payload_bytes, more_bytes)
 *                                           answers one, and returns the size of the reply's payload,
 *                                           or WRONG_PAYLOAD; more bytes may follow the payload
 *     bool NAME_continues(type)             whether those after the payload of such a reply are its own
 *     uint8_t NAME_byte(place)              one of them
 *     void NAME_predicting()                called before a prediction is finished
 *     void NAME_predicted(repetitions, cycles)  called after it
 */
#ifndef PARTS_H
#define PARTS_H

#include "generated/parts.h"

#define PARTS(hook) MODEL_PARTS(hook)

#endif
