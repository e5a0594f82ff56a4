#include "zofl.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* No product is fused with a sum, whatever the flags: GNU C does so by default, and clang. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#if defined(__FAST_MATH__) || defined(_M_FP_FAST)
#error "zofl.c needs IEEE arithmetic: compile it without -ffast-math"
#endif
#if FLT_EVAL_METHOD < 0 || FLT_EVAL_METHOD == 1 || FLT_EVAL_METHOD == 2
#error "zofl.c needs FLT_EVAL_METHOD 0: -msse2 -mfpmath=sse, or s390x: -fexcess-precision=fast"
#endif

/* A function whose frame is large stays one, so that it is on the stack alone. */
#if defined(__GNUC__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE
#endif
