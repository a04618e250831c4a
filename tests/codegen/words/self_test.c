/* Run the self-test of an exported library. */
#include "pnn_self_test.h"
#include "start.h"

int main(void)
{
    struct pnn_difference first;
    const uint32_t differing = pnn_self_test(&first);
    print("vectors ");
    print_number(PNN_TEST_VECTORS);
    print(" differing ");
    print_number(differing);
    print("\n");
    stop(differing == 0);
    return 0;
}
