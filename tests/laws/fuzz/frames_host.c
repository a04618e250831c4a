/* The firmware's decoder and commands on the host: the wire's bytes in, the replies' bytes out. */
#include "requests.h"

#include <stdio.h>

void uart_send(uint8_t byte) { putchar(byte); }

int main(void)
{
    int byte;

    while ((byte = getchar()) != EOF) {
        requests_take((uint8_t)byte);
    }
    return 0;
}
