"""Boards at the other end of a serial line: sessions with them, and recordings of their sensors.

The link is a pyserial URL, so a board (``/dev/ttyACM0``), the emulated Uno
(``socket://127.0.0.1:PORT``) and any other byte stream are treated alike.
"""
