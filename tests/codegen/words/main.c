/* Classify points, compare the scores with NumPy's, and print how many points there are and differ. */
#include "pnn_model.h"
#include "start.h"

#include "points.h"

int main(void)
{
    uint32_t differing = 0;
    for (uint32_t i = 0; i < POINTS; ++i) {
        uint32_t equal = pnn_predict(points + i * PNN_FEATURES) == classes[i];
        for (uint32_t l = 0; l < PNN_CLASSES; ++l) {
            equal &= pnn_scores()[l] == scores[i * PNN_CLASSES + l];
        }
        differing += !equal;
    }
    print("points ");
    print_number(POINTS);
    print(" differing ");
    print_number(differing);
    print("\n");
    stop(differing == 0);
    return 0;
}
