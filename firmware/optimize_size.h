/* Flash is dear, and this code waits for the line most of the time: every source of the firmware
 * includes this first and is optimized for size. The generated model is not, it is for speed.
 */
#ifndef OPTIMIZE_SIZE_H
#define OPTIMIZE_SIZE_H

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("Os")
#endif

#endif
