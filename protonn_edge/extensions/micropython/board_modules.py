"""Names of modules that boards have built in or run, besides Python's own.

Of their documentation: https://docs.micropython.org/en/latest/library (with the modules of each
port), https://docs.circuitpython.org/en/latest/shared-bindings, and
https://microbit-micropython.readthedocs.io. A board imports these in place of a file.
"""

from __future__ import annotations

_RUN = "__main__ _boot boot boot_out code main safemode"
_MICROPYTHON = """
    aioble aioespnow aiorepl apa102 apa106 bluetooth btree cryptolib deflate dht ds18x20 esp
    esp32 espnow flashbdev framebuf inisetup lcd160cr lora machine micropython mimxrt mip neopixel
    network nrf nrf52 ntptime onewire openamp pyb requests rp2 samd ssd1306 stm tls ubluepy
    uctypes umqtt upip urequests uwebsocket vfs webrepl webrepl_setup websocket wipy zephyr zsensor
"""
_CIRCUITPYTHON = """
    adafruit_bus_device adafruit_pixelbuf aesio alarm analogbufio analogio audiobusio audiocore
    audiodelays audiofilters audiofreeverb audioio audiomixer audiomp3 audiopwmio audiospeed
    aurora_epaper bitbangio bitmapfilter bitmaptools bitops board busdisplay busio camera canio
    countio cyw43 digitalio displayio dotclockframebuffer dualbank epaperdisplay espcamera espidf
    espulp floppyio fontio fourwire framebufferio frequencyio gifio gnss i2cdisplaybus i2cioexpander
    i2cperipheral i2ctarget imagecapture is31fl3741 jpegio keypad keypad_demux lvfontio max3421e
    mcp4822 mdns memorymap memorymonitor microcontroller mipidsi msgpack multiterminal
    neopixel_write nvm onewireio paralleldisplay paralleldisplaybus picodvi ps2io pulseio pwmio qrio
    qspibus rainbowio rclcpy rgbmatrix rotaryio rtc sdcardio sdioio sharpdisplay socketpool
    spitarget storage supervisor synthio terminalio tilepalettemapper touchio uheap ulab usb usb_cdc
    usb_hid usb_host usb_midi usb_video ustack vectorio warnings watchdog wifi
"""
_MICROBIT = "antigravity audio love log microbit music neopixel power radio speech this"

BOARD_MODULES = frozenset(f"{_RUN} {_MICROPYTHON} {_CIRCUITPYTHON} {_MICROBIT}".split())
"""The names of modules that a board imports in place of a file, or runs when it starts."""
