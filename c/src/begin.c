#include "zofl.h"

#include <float.h>
#include <math.h>
#include <string.h>

#if defined(__FAST_MATH__)
#error "zofl.c needs IEEE arithmetic: compile it without -ffast-math"
#endif
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 2
#error "zofl.c needs arithmetic in float: on 32-bit x86 add -msse2 -mfpmath=sse"
#endif


/* A function whose frame is large stays one, so that it is on the stack alone. */
#if defined(__GNUC__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE
#endif
