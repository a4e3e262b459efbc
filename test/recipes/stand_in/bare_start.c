/* bare_start.c - the start of static.c on the board, without a C library. It
 * clears the memory, runs main, prints the depth that the stack had, and ends
 * with the status of main. Prints and ends by semihosting, a service of qemu.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>

#define WRITE_TEXT 0x04
#define END 0x20
#define END_OF_PROGRAM 0x20026
#define PAINTED 8192 /* words of the stack; the depth counts up to here */
#define PAINT UINT32_C(0xdeadbeef)

extern uint32_t __bss_start__[], __bss_end__[], __stack[];

void _start(void);
void report(const char *what, uint32_t number);
int main(void);

static void semihost(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void report(const char *what, uint32_t number)
{
    char text[16], *digit = text + sizeof(text) - 1;
    *digit = '\0';
    *--digit = ' ';
    do {
        *--digit = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    semihost(WRITE_TEXT, digit);
    semihost(WRITE_TEXT, what);
    semihost(WRITE_TEXT, "\n");
}

void _start(void)
{
    volatile uint32_t *stack = __stack;
    __asm__("" : "+r"(stack)); /* not the bounds of an array */
    for (volatile uint32_t *word = __bss_start__; word < __bss_end__; word++)
        *word = 0;
    for (int i = 16; i < PAINTED; i++) /* not the words in use here */
        stack[-i] = PAINT;
    uint32_t status = (uint32_t)main();
    int depth = PAINTED;
    while (depth > 16 && stack[1 - depth] == PAINT)
        depth--;
    report("bytes of stack", 4 * (uint32_t)depth);
    semihost(END, (uint32_t[]){END_OF_PROGRAM, status});
    for (;;)
        ;
}
