/* How a board begins: variables, a stack whose use shows, the FPU, and the program. */
#include "board.h"

#include <string.h>

#define UNUSED 0xA5 /* what the stack holds where nothing has been */

/* From the linker's script: the variables' first values, and where they belong. */
extern unsigned char _first_values[], _data[], _data_end[], _bss[], _bss_end[], _stack_top[];

void board_exit(int status);
void reset(void);

void fault(void);
__attribute__((used, aligned(4))) void fault(void) {
	say("fault\n");
	board_exit(1);
}

#ifdef __riscv
__attribute__((naked, section(".vectors"), used)) void start(void);
void start(void) {
	__asm__("la sp, _stack_top\n\t"
	        ".option push\n\t.option norelax\n\tla gp, __global_pointer$\n\t.option pop\n\t"
	        "la t0, fault\n\t.option arch, +zicsr\n\tcsrw mtvec, t0\n\tj reset");
}
#else
__attribute__((weak)) void board_interrupt(uint32_t n) {
	(void)n;
	fault();
}

static void interrupt(void) {
	uint32_t number;
	__asm__ volatile("mrs %0, ipsr" : "=r"(number));
	board_interrupt((number & 63) - 16);
}

#define F (const void *)fault
#define I (const void *)interrupt
#define I8 I, I, I, I, I, I, I, I
__attribute__((section(".vectors"), used)) static const void *const vectors[48] = {
    _stack_top, (const void *)reset,
    F,          F,
    F,          F,
    F,          0,
    0,          0,
    0,          F,
    F,          0,
    F,          F, /* the processor's */
    I8,         I8,
    I8,         I8};
#endif

static void fpu_on(void) {
#if defined(__ARM_FP)
	*(volatile uint32_t *)0xE000ED88 |= 0xFu << 20; /* CPACR */
	__asm__ volatile("dsb\n\tisb");
#elif defined(__riscv_flen)
	__asm__ volatile(".option arch, +zicsr\n\tcsrs mstatus, %0" : : "r"(1u << 13));
#endif
}

void reset(void) {
	unsigned char *free_end = (unsigned char *)__builtin_frame_address(0) - 64;
	memcpy(_data, _first_values, (size_t)(_data_end - _data));
	memset(_bss, 0, (size_t)(_bss_end - _bss));
	for (unsigned char *p = _bss_end; p < free_end; p++)
		*p = UNUSED;
	fpu_on();
	board_exit(board_main());
}

uint32_t board_stack(void) {
	const unsigned char *p = _bss_end;
	while (p < _stack_top && *p == UNUSED)
		p++;
	return (uint32_t)(_stack_top - p);
}

uint32_t board_variables(void) {
	return (uint32_t)(_bss_end - _data);
}

int board_flush(void) {
#ifdef __ARM_FP
	uint32_t fpscr;
	__asm__ volatile("vmrs %0, fpscr" : "=r"(fpscr));
	__asm__ volatile("vmsr fpscr, %0" : : "r"(fpscr | 1u << 24)); /* FZ */
	return 0;
#else
	return -1;
#endif
}
