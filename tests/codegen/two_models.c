/* Classify images and samples of two models in turn, value by value, and send all answers. inputs.h
 * has image_inputs and sensor_inputs, POINTS of each. */
#include "image_model.h"
#include "sensor_model.h"

#include "output.h"

#include "inputs.h"

int main(void)
{
    begin();
    for (uint8_t point = 0; point < POINTS; ++point) {
        image_begin();
        sensor_begin();
        for (uint16_t i = 0; i < IMAGE_FEATURES || i < SENSOR_FEATURES; ++i) {
            if (i < IMAGE_FEATURES) {
                image_push(READ(&image_inputs[point * IMAGE_FEATURES + i]));
            }
            if (i < SENSOR_FEATURES) {
                sensor_push(READ(&sensor_inputs[point * SENSOR_FEATURES + i]));
            }
        }
        const uint8_t image = image_finish();
        const uint8_t sample = sensor_finish();
        send(image, image_scores(), IMAGE_CLASSES * sizeof(image_score_t));
        send(sample, sensor_scores(), SENSOR_CLASSES * sizeof(sensor_score_t));
    }
    end();
    return 0;
}
