"""The watchdog resets the chip as the real one does, and what the emulator added goes on."""

from __future__ import annotations

from avr_tools import needs_uploads

from protonn_edge.chips.emulator import EmulatedUno

EXTERNAL, WATCHDOG = 2, 8

# Counts its starts, and says at each which one it is and why it was reset.
COUNTS = """
static uint8_t starts __attribute__((section(".noinit")));

int main(void) {
    uint8_t cause = MCUSR;
    CLEAR_CAUSE;
    if (cause & 1 << EXTRF) {
        starts = 0;
    }
    starts++;
    uart_begin();
    uart_write('0' + starts);
    uart_write('0' + cause);
    while (!(UCSR0A & 1 << TXC0)) {
    }
    GPIOR0 = 1;
    GPIOR0 = 0;
    THEN
    for (;;) {
        uart_write(uart_read());
    }
}
"""
CLEARS = "-DCLEAR_CAUSE=MCUSR=0,wdt_disable()"


def start(number, *causes):
    return f"{number}{chr(ord('0') + sum(causes))}".encode()


def test_it_resets_and_everything_goes_on(compile_firmware, connect, link_kind):
    firmware = compile_firmware(COUNTS, CLEARS, "-DTHEN=if (starts < 3) wdt_enable(WDTO_15MS);")
    with EmulatedUno(firmware, link=link_kind) as uno:
        link = connect(uno)
        wanted = start(1, EXTERNAL) + start(2, WATCHDOG) + start(3, WATCHDOG)
        assert link.read(6) == wanted
        link.write(b"ping")
        assert link.read(4) == b"ping"
        stats = uno.stats()
    assert stats.marked_spans >= 3
    assert stats.faults == ()


def test_what_is_on_the_wire_outlives_a_reset(compile_firmware, connect):
    then = "-DTHEN=if (starts < 2) { wdt_enable(WDTO_15MS); UCSR0B = 0; for (;;) {} }"
    with EmulatedUno(compile_firmware(COUNTS, CLEARS, then)) as uno:
        link = connect(uno)
        assert link.read(2) == start(1, EXTERNAL)
        link.write(b"ping")
        assert link.read(6) == start(2, WATCHDOG) + b"ping"


def test_causes_add_up_until_they_are_cleared(compile_firmware, connect):
    firmware = """
        int main(void) {
            uart_begin();
            uart_write('0' + (MCUSR & (1 << EXTRF | 1 << WDRF)));
            for (;;) {
                wdt_reset();
                if (UCSR0A & 1 << RXC0) {
                    if (UDR0 == 'w') {
                        wdt_enable(WDTO_15MS);
                        for (;;) {
                        }
                    }
                    MCUSR = 0;
                    uart_write('.');
                }
            }
        }
    """
    with EmulatedUno(compile_firmware(firmware)) as uno:
        link = connect(uno)
        assert link.read(1) == b"2"
        link.write(b"w")
        assert link.read(1) == b":"
        uno.reset()
        assert link.read(1) == b":"
        link.write(b"c")
        assert link.read(1) == b"."
        uno.reset()
        assert link.read(1) == b"2"


def test_it_goes_on_at_its_fastest_until_it_is_switched_off(compile_firmware, connect):
    clears_the_cause_alone = "-DCLEAR_CAUSE=MCUSR=0"
    then = "-DTHEN=if (starts == 1) wdt_enable(WDTO_60MS);"
    with EmulatedUno(compile_firmware(COUNTS, clears_the_cause_alone, then)) as uno:
        link = connect(uno)
        assert link.read(8) == start(1, EXTERNAL) + b"".join(start(n, WATCHDOG) for n in (2, 3, 4))


def test_it_waits_as_long_as_it_is_fed(compile_firmware, connect):
    then = """-DTHEN=wdt_enable(WDTO_15MS);
        for (uint8_t i = 0; i < 100; i++) { __builtin_avr_delay_cycles(160000); wdt_reset(); }
        uart_write('!');
        if (starts == 2) wdt_disable();"""
    with EmulatedUno(compile_firmware(COUNTS, CLEARS, then.replace("\n", " "))) as uno:
        assert connect(uno).read(6) == start(1, EXTERNAL) + b"!" + start(2, WATCHDOG) + b"!"


def test_it_ends_a_sleep(compile_firmware, connect):
    then = "-DTHEN=if (starts < 2) { wdt_enable(WDTO_250MS); idle_for_ever(); }"
    with EmulatedUno(compile_firmware(COUNTS, CLEARS, then)) as uno:
        assert connect(uno).read(4) == start(1, EXTERNAL) + start(2, WATCHDOG)


def test_its_interrupt_comes_before_its_reset(compile_firmware, connect):
    firmware = "ISR(WDT_vect) { uart_write('i'); }" + COUNTS
    then = """-DTHEN=if (starts < 2) {
        wdt_enable(WDTO_15MS); WDTCSR |= 1 << WDIE; idle_for_ever(); }"""
    with EmulatedUno(compile_firmware(firmware, CLEARS, then.replace("\n", " "))) as uno:
        assert connect(uno).read(5) == start(1, EXTERNAL) + b"i" + start(2, WATCHDOG)


@needs_uploads
def test_optiboot_starts_the_program_at_once_and_keeps_the_cause_to_itself(
    compile_firmware, connect
):
    counts = COUNTS.replace("cause & 1 << EXTRF", "starts > 9")
    then = "-DTHEN=if (uart_read() == 'r') { wdt_enable(WDTO_15MS); for (;;) {} }"
    firmware = compile_firmware(counts, "-DCLEAR_CAUSE=(void)0", then)
    with EmulatedUno(firmware, bootloader=True) as uno:
        link = connect(uno)
        began = uno.stats().cycles
        first = link.read(2)  # Optiboot has waited for a second, and let its watchdog go off
        assert uno.stats().cycles - began > 10_000_000
        assert first[1:] == b"0"
        for number in range(2, 5):
            link.write(b"r")
            assert link.read(2) == bytes([first[0] + number - 1]) + b"0"
        assert uno.stats().faults == ()
