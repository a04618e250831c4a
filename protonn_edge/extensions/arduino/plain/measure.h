/* Lets protonn-edge measure the model on a board, over any serial line:
 *
 *     protonn-edge hil data.csv --model model.npz --port PORT
 *
 * gives the accuracy, compares all scores, and measures the time of a prediction. Compile the C
 * files of this folder with yours, define the two functions of the line, and call pnn_measure()
 * in your main loop, without waiting for anything else.
 *
 * Define for the compiler
 *
 *     MEASURE_CLOCK_HZ    the clock of the CPU, such as 84000000 (by default F_CPU)
 *     MEASURE_TICKS()     a counter of 32 bits that runs all the time, and
 *     MEASURE_TICKS_HZ    its ticks in a second, such as micros() and 1000000
 *
 * A Cortex-M3, M4, M7 or M33 and an AVR with a Timer1 need no MEASURE_TICKS: they count cycles.
 */
#ifndef PNN_MEASURE_H
#define PNN_MEASURE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* To be defined by you: return the next byte that has arrived, or -1 if there is none. */
int pnn_measure_receive(void);

/* To be defined by you: send a byte, and wait for the transmitter if it is busy. */
void pnn_measure_send(uint8_t byte);

/* Answer what has arrived. */
void pnn_measure(void);

#ifdef __cplusplus
}
#endif
#endif
