/* Registers of the RP2040, by the names of its data sheet. */
#ifndef CHIP_H
#define CHIP_H

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define SETS(address) REGISTER((address) | 0x2000u)   /* writing it sets the bits that are 1 */
#define CLEARS(address) REGISTER((address) | 0x3000u) /* writing it clears them */
#define BIT(number) (UINT32_C(1) << (number))

#define SSI_CTRLR0 REGISTER(0x18000000) /* the interface to the flash (4.10.13) */
#define SSI_CTRLR1 REGISTER(0x18000004)
#define SSI_SSIENR REGISTER(0x18000008)
#define SSI_BAUDR REGISTER(0x18000014)
#define SSI_SPI_CTRLR0 REGISTER(0x180000F4)

#define CLK_REF_CTRL REGISTER(0x40008030) /* clocks (2.15.7) */
#define CLK_REF_SELECTED REGISTER(0x40008038)
#define CLK_SYS_CTRL REGISTER(0x4000803C)
#define CLK_SYS_SELECTED REGISTER(0x40008044)
#define CLK_PERI_CTRL REGISTER(0x40008048)

#define RESETS_ADDRESS 0x4000C000u /* resets of the peripherals (2.14.3) */
#define RESETS_RESET_DONE REGISTER(0x4000C008)
#define RESETS_IO_BANK0 BIT(5)
#define RESETS_PADS_BANK0 BIT(8)
#define RESETS_PLL_SYS BIT(12)
#define RESETS_UART0 BIT(22)

#define PSM_WDSEL REGISTER(0x40010008) /* what the watchdog resets (2.13.5) */

#define GPIO_CTRL(pin) REGISTER(0x40014004u + 8u * (pin)) /* the functions of pins (2.19.6) */
#define FUNCTION_UART 2u
#define FUNCTION_SIO 5u

#define XOSC_CTRL REGISTER(0x40024000) /* the crystal oscillator (2.16.7) */
#define XOSC_STATUS REGISTER(0x40024004)
#define XOSC_STARTUP REGISTER(0x4002400C)

#define PLL_CS REGISTER(0x40028000) /* the system's PLL (2.18.4) */
#define PLL_PWR_ADDRESS 0x40028004u
#define PLL_PWR REGISTER(PLL_PWR_ADDRESS)
#define PLL_FBDIV_INT REGISTER(0x40028008)
#define PLL_PRIM REGISTER(0x4002800C)

#define UART0_DR REGISTER(0x40034000) /* a PL011 (4.2.8) */
#define UART0_FR REGISTER(0x40034018)
#define UART0_IBRD REGISTER(0x40034024)
#define UART0_FBRD REGISTER(0x40034028)
#define UART0_LCR_H REGISTER(0x4003402C)
#define UART0_CR REGISTER(0x40034030)

#define WATCHDOG_CTRL REGISTER(0x40058000) /* the watchdog (4.7.6) */
#define WATCHDOG_LOAD REGISTER(0x40058004)
#define WATCHDOG_REASON REGISTER(0x40058008)
#define WATCHDOG_TICK REGISTER(0x4005802C)

#define CHIP_RESET REGISTER(0x40064008) /* why the chip was reset (2.12.8) */

#define GPIO_OE_SET REGISTER(0xD0000024) /* pins as outputs (2.3.1.7) */
#define GPIO_OUT_SET REGISTER(0xD0000014)
#define GPIO_OUT_CLR REGISTER(0xD0000018)

#define SYST_CSR REGISTER(0xE000E010) /* the timer of the core (2.4.8) */
#define SYST_RVR REGISTER(0xE000E014)
#define SYST_CVR REGISTER(0xE000E018)
#define VTOR REGISTER(0xE000ED08)

#endif
