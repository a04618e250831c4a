/* Flash is scarce, and this code waits for the line most of the time. So every source of the
 * firmware includes this file first and is optimized for size. The generated model is optimized for
 * speed instead.
 */
#ifndef OPTIMIZE_SIZE_H
#define OPTIMIZE_SIZE_H

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("Os")
#endif

#endif
