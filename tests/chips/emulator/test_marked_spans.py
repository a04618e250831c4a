"""Cycles between writes of GPIOR0, against counts made by hand from the instruction set manual."""

from __future__ import annotations

import pytest

from protonn_edge.chips.emulator import EmulatedUno

MARKED = """
__attribute__((naked, noinline, used)) static void callee(void) {{
    __asm__ volatile("ret");
}}

int main(void) {{
    static uint8_t variable;
    uart_begin();
    __asm__ volatile(
        "ldi r24, 1\\n"
        "ldi r30, 0\\n"
        "ldi r31, 1\\n"
        "out 0x1e, r24\\n"
        {body}
        "out 0x1e, r1\\n"
        :: "m"(variable) : "r0", "r24", "r25", "r26", "r27", "r30", "r31");
    uart_write('.');
    idle_for_ever();
}}
"""

# Each with its cycles; ATmega328P datasheet, chapter 37. For all other instructions,
# tests/chips/avr/test_cycles.py compares what programs are judged by.
INSTRUCTIONS = {
    "": 0,
    "fmulsu r16, r17 $ clr r1": 2 + 1,
    "ldi r30, pm_lo8(1f) $ ldi r31, pm_hi8(1f) $ ijmp $ 1:": 1 + 1 + 2,
    "ldi r30, pm_lo8(callee) $ ldi r31, pm_hi8(callee) $ icall": 1 + 1 + 3 + 4,
    "sbi 0x1f, 0": 2 + 4,  # the EEPROM is read
    "cbi 0x1f, 0": 2,
    "sbic 0x1f, 0 $ nop": 2,
    "wdr": 1,
    "ldi r25, 100 $ 1: dec r25 $ brne 1b": 1 + 100 * 3 - 1,
}


@pytest.mark.parametrize(("instructions", "cycles"), INSTRUCTIONS.items(), ids=INSTRUCTIONS)
def test_a_span_has_the_cycles_of_its_instructions_and_of_the_first_out(
    compile_firmware, connect, instructions, cycles
):
    body = f'"{instructions}\\n"'.replace(" $ ", "\\n")
    with EmulatedUno(compile_firmware(MARKED.format(body=body))) as uno:
        before = uno.stats()
        assert connect(uno).read(1) == b"."
        after = uno.stats()
    spans = after.marked_spans - before.marked_spans
    assert spans >= 1
    assert after.marked_cycles - before.marked_cycles == spans * (1 + cycles)


def test_spans_add_up_and_only_whole_ones_count(compile_firmware, connect):
    firmware = """
        int main(void) {
            uart_begin();
            uart_read();
            GPIOR0 = 0;  /* ends nothing */
            for (uint8_t i = 0; i < 5; i++) {
                GPIOR0 = 1;
                GPIOR0 = 2;  /* is inside already */
                __builtin_avr_delay_cycles(98);
                GPIOR0 = 0;
            }
            GPIOR0 = 1;  /* never ends */
            uart_write('.');
            idle_for_ever();
        }
    """
    with EmulatedUno(compile_firmware(firmware)) as uno:
        for runs in (1, 2):
            link = connect(uno)
            link.write(b"?")
            assert link.read(1) == b"."
            link.close()
            stats = uno.stats()
            assert stats.marked_spans == 5 * runs
            least = 5 * runs * 100
            assert least <= stats.marked_cycles <= least + 5 * runs * 2  # avr-gcc may load a 2


def test_an_interrupt_takes_its_response_time(compile_firmware, connect):
    firmware = """
        __attribute__((naked, used)) void USART_UDRE_vect_code(void);
        ISR(USART_UDRE_vect, ISR_NAKED) {
            __asm__ volatile("sts 0xc1, r24\\n reti");
        }

        int main(void) {
            uart_begin();
            sei();
            for (uint8_t i = 0; i < 2; i++) {
                uint8_t plain = 1 << TXEN0, enabled = i ? plain | 1 << UDRIE0 : plain;
                register uint8_t quiet __asm__("r24") = plain;
                __asm__ volatile(
                    "out 0x1e, %1\\n sts 0xc1, %0\\n nop\\n nop\\n nop\\n out 0x1e, r1\\n"
                    :: "r"(enabled), "r"(quiet));
            }
            uart_write('.');
            idle_for_ever();
        }
    """
    with EmulatedUno(compile_firmware(firmware)) as uno:
        before = uno.stats()
        assert connect(uno).read(1) == b"."
        after = uno.stats()
    pairs = (after.marked_spans - before.marked_spans) // 2
    response, jump, store, return_from_interrupt = 4, 3, 2, 4
    interrupt = response + jump + store + return_from_interrupt
    assert after.marked_cycles - before.marked_cycles == pairs * (2 * (1 + 2 + 3) + interrupt)
