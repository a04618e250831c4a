/* The second stage of the start, which the chip's boot ROM copies from the first 256 bytes of the
 * flash to SRAM, and runs if the CRC-32 at their end is right (data sheet, 2.8.1).
 *
 * It copies the program to SRAM and starts it there: fetching an instruction from SRAM always takes
 * one cycle, whereas the cache of the flash would make the cycles of a prediction depend on what
 * ran before. It reads the flash with the command 03h, which every flash chip has.
 *
 * Wherever it runs, its code and constants have to lie together: it calls nothing.
 */
#include "chip.h"

#define READ_COMMAND UINT32_C(0x03)
#define ROM_CLOCKS_PER_BIT 4u

extern const uint32_t program_in_flash[];
extern uint32_t program_start[];
extern uint32_t program_end[];

__attribute__((section(".boot2"), used, noreturn)) void boot2(void)
{
    const uint32_t *from = program_in_flash;

    SSI_SSIENR = 0;
    SSI_BAUDR = ROM_CLOCKS_PER_BIT;
    SSI_CTRLR0 =
        UINT32_C(31) << 16 | 3u << 8; /* words of 32 bits; each read sends command and address */
    SSI_CTRLR1 = 0;                   /* one word for a read */
    SSI_SPI_CTRLR0 = READ_COMMAND << 24 | 2u << 8 | 6u << 2; /* 8 bits, and 24 bits of address */
    SSI_SSIENR = 1;
    for (volatile uint32_t *to = program_start; to != program_end; to++) {
        *to = *from++;
    }
    VTOR = (uintptr_t)program_start;
    __asm__ volatile("msr msp, %0\n"
                     "bx %1\n"
                     :
                     : "r"(program_start[0]), "r"(program_start[1]));
    __builtin_unreachable();
}
