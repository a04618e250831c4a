"""The loop over the bands of a sample in assembly: it takes the same time on any samples."""

from __future__ import annotations

from protonn_edge.stages.listing import Listing

BAND_BYTES = 6
"""Of a band in SRAM: its last y, the one before, and its energy."""

COEFFICIENT_BYTES = 3
"""Of a band in flash: turn, decay, gain."""


def band_loop() -> Listing:
    """Return the loop over the bands.

    Y goes through their variables, Z through their coefficients. r25:r24 is the difference of the
    samples, r15:r14 that of mirrored bands; r22 counts bands, and those mirrored begin where it is
    r23.
    """
    return Listing(
        f"""
        band:
            ld   r18, Y             ; the last y
            ldd  r19, Y+1
            ldd  r16, Y+2           ; the one before
            ldd  r17, Y+3
            std  Y+2, r18
            std  Y+3, r19
            lpm  r20, Z+            ; turn
            mul  r18, r20
            movw r26, r0
            clr  r21
            mulsu r19, r20
            add  r27, r0
            adc  r21, r1
            lpm  r20, Z+            ; decay
            mul  r16, r20
            sub  r26, r0
            sbc  r27, r1
            sbci r21, 0
            mulsu r17, r20
            sub  r27, r0
            sbc  r21, r1
            lsl  r26
            rol  r27
            rol  r21
            lpm  r20, Z+            ; gain
            mul  r24, r20
            add  r27, r0
            adc  r21, r1
            sbrc r25, 7
            sub  r21, r20
            st   Y, r27
            std  Y+1, r21
            sbrc r21, 7             ; the energy
            com  r21
            clr  r1
            ldd  r18, Y+4
            add  r18, r21
            std  Y+4, r18
            ldd  r18, Y+5
            adc  r18, r1
            std  Y+5, r18
            adiw r28, {BAND_BYTES}
            dec  r22
            breq done
            cp   r22, r23
            brne band
            movw r24, r14
            rjmp band
        done:
        """
    )
