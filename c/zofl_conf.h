/* What a build of zofl.c holds. Change it here, or by -D on the command line. */
#ifndef ZOFL_CONF_H
#define ZOFL_CONF_H

#ifndef ZOFL_WITH_NORMAL /* normal directions: a table of 16 kB; without it only plans of signs */
#define ZOFL_WITH_NORMAL 1
#endif
#ifndef ZOFL_WITH_CMA /* server_rule=cma */
#define ZOFL_WITH_CMA 1
#endif
#ifndef ZOFL_WITH_STATE /* state files, so that a device sleeps and goes on */
#define ZOFL_WITH_STATE 1
#endif
#ifndef ZOFL_WITH_NAMES /* names in zofl_explain, 2 kB; without them numbers of docs/wire.md */
#define ZOFL_WITH_NAMES 1
#endif
#ifndef ZOFL_WITH_SIMD /* AVX2, AVX-512 and NEON beside plain C, with equal bits */
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__aarch64__))
#define ZOFL_WITH_SIMD 1
#else
#define ZOFL_WITH_SIMD 0
#endif
#endif
#ifndef ZOFL_WITH_LOWRANK /* distribution=lowrank, which takes 7 kB of stack */
#if defined(__LP64__) || defined(_WIN64)
#define ZOFL_WITH_LOWRANK 1
#else
#define ZOFL_WITH_LOWRANK 0
#endif
#endif
#ifndef ZOFL_FACTORS /* the most terms of a round whose factors replay keeps, 1.6 kB each */
#define ZOFL_FACTORS 256
#endif
#ifndef ZOFL_SEGMENTS /* the most segments of a plan, of 40 bytes each: up to 512 */
#define ZOFL_SEGMENTS 8
#endif
#ifndef ZOFL_ROLLBACKS /* the most rollbacks of a log */
#define ZOFL_ROLLBACKS 8
#endif
#ifndef ZOFL_CHANGES /* bytes of a run's changes of the plan and its end, for state files */
#define ZOFL_CHANGES 512
#endif
#ifndef ZOFL_TILE /* elements that replay sums at once, of 4 bytes each: 64 to 4096 */
#define ZOFL_TILE 4096
#endif

#endif
