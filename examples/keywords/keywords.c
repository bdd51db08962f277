// SPDX-License-Identifier: Apache-2.0
//
// Keyword spotting: features of sound, frame by frame, and a model on all of them.
#include <stdint.h>

#include "boards/common/print.h"
#include "examples/keywords/clips.h"
#include "examples/keywords/keywords_plan.h"
#include "examples/keywords/speech.h"
#include "firmware/runtime/model.h"
#include "firmware/runtime/values.h"

enum { FRAMES = KEYWORDS_PLAN_INPUT_0_HEIGHT, PIXELS = FRAMES * SPEECH_VALUES };
_Static_assert(KEYWORDS_PLAN_INPUT_0_WIDTH == SPEECH_VALUES, "features of an input's row");

static int32_t scratch[SPEECH_SCRATCH];
static float spectrogram[PIXELS];

// Computes features of a recorded clip. A microphone's driver would pass each frame as it arrives.
static pl_status listen(const int16_t *samples) {
  int16_t values[SPEECH_VALUES];
  for (uint32_t frame = 0; frame < FRAMES; ++frame) {
    const pl_status status =
        pl_log_mel(&speech, samples + frame * SPEECH_HOP, scratch, SPEECH_SCRATCH, values);
    if (status != PL_OK) return status;
    for (uint32_t i = 0; i < SPEECH_VALUES; ++i) {
      spectrogram[frame * SPEECH_VALUES + i] = (float)values[i] / (1 << SPEECH_FRACTION);
    }
  }
  return PL_OK;
}

static pl_status hear(pl_model *model, const int16_t *samples, uint32_t *word) {
  pl_tensor input;
  pl_tensor output;
  pl_status status = listen(samples);
  if (status == PL_OK) status = pl_model_input(model, 0, &input);
  if (status == PL_OK) status = pl_model_output(model, 0, &output);
  if (status == PL_OK) status = pl_quantize(&input, spectrogram);
  if (status == PL_OK) status = pl_model_run(model, &input, 1, &output, 1);
  return status == PL_OK ? pl_argmax(&output, word) : status;
}

int main(void) {
  pl_model model;
  uint32_t right = 0;
  pl_status status = pl_model_init(&model, &keywords_plan);
  for (uint32_t clip = 0; clip < WORDS && status == PL_OK; ++clip) {
    uint32_t word = 0;
    status = hear(&model, clips[clip], &word);
    if (status == PL_OK) {
      pl_print(words[word]);
      pl_print("\n");
      right += word == clip ? 1 : 0;
    }
  }
  pl_print(right == WORDS ? "PL:PASS\n" : "PL:FAIL not all words were heard\n");
  return right == WORDS ? 0 : 1;
}
