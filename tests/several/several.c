// SPDX-License-Identifier: Apache-2.0
//
// Several models in one program. Models with a shared arena run one after another. None of them
// writes to the arena of the separate model, if there is one.
#include <stdint.h>
#include <string.h>

#include "boards/common/expect.h"
#include "firmware/runtime/model.h"
#include "tests/several/apart_1.h"
#include "tests/several/first.h"
#include "tests/several/fourth.h"
#include "tests/several/head.h"
#include "tests/several/head_anywhere.h"
#include "tests/several/second.h"
#include "tests/several/third.h"

enum { SHARING = 4, OUTPUTS = 16 };

static const pl_plan *const plans[] = {&first, &second, &third, &fourth, &apart_1};

static pl_status run(const pl_plan *plan, void *output_data, int8_t *result) {
  pl_model model;
  pl_tensor input;
  pl_tensor output;
  pl_status status = pl_model_init(&model, plan);
  if (status == PL_OK) {
    status = pl_model_input(&model, 0, &input);
  }
  if (status == PL_OK) {
    status = pl_model_output(&model, 0, &output);
  }
  if (status != PL_OK) {
    return status;
  }
  for (uint32_t i = 0; i < input.spec.bytes; ++i) {
    ((int8_t *)input.data)[i] = (int8_t)i;
  }
  if (output_data != NULL) {
    output.data = output_data;
  }
  status = pl_model_run(&model, &input, 1, &output, 1);
  EXPECT(output.spec.bytes <= OUTPUTS);
  if (status == PL_OK && result != NULL) {
    memcpy(result, output.data, output.spec.bytes);
  }
  return status;
}

static void test_apart(void) {
  const pl_tensor *const output = &apart_1.outputs[0];
  int8_t expected[OUTPUTS];
  for (uint32_t i = 0; i < SHARING; ++i) {
    EXPECT(run(&apart_1, NULL, expected) == PL_OK);
    EXPECT(run(plans[i], NULL, NULL) == PL_OK);
    EXPECT(memcmp(output->data, expected, output->spec.bytes) == 0);
    // Neither model writes a result into the arena of the other.
    EXPECT(run(plans[i], output->data, NULL) == PL_ERROR_OUTPUT_OVERLAP);
    EXPECT(run(&apart_1, plans[i]->outputs[0].data, NULL) == PL_ERROR_OUTPUT_OVERLAP);
  }
}

static void test_sharing(void) {
  int8_t expected[OUTPUTS] = {0};
  for (uint32_t i = 0; i < SHARING; ++i) {
    int8_t result[OUTPUTS] = {0};
    EXPECT(plans[i]->arenas[0].base == plans[0]->arenas[0].base);
    EXPECT(run(plans[i], NULL, i == 0 ? expected : result) == PL_OK);
    EXPECT(i == 0 || memcmp(result, expected, sizeof result) == 0);
  }
}

// Runs the head on the first model's output in the arena, or on a copy of it.
static pl_status run_head(const pl_plan *plan, const pl_tensor *input, int8_t *result) {
  pl_model model;
  pl_tensor output;
  pl_status status = pl_model_init(&model, plan);
  if (status == PL_OK) {
    status = pl_model_output(&model, 0, &output);
  }
  if (status == PL_OK) {
    status = pl_model_run(&model, input, 1, &output, 1);
  }
  if (status == PL_OK) {
    memcpy(result, output.data, output.spec.bytes);
  }
  return status;
}

static void test_handover(void) {
  int8_t copy[OUTPUTS] = {0};
  int8_t expected[OUTPUTS] = {0};
  int8_t found[OUTPUTS] = {0};
  pl_tensor between = first.outputs[0];
  EXPECT(head.inputs[0].data == between.data);
  EXPECT(run(&first, NULL, copy) == PL_OK);
  EXPECT(run_head(&head, &between, found) == PL_OK);
  between.data = copy;
  EXPECT(run_head(&head_anywhere, &between, expected) == PL_OK);
  EXPECT(memcmp(found, expected, sizeof found) == 0);
  EXPECT(run_head(&head, &between, found) == PL_OK);
  EXPECT(memcmp(found, expected, sizeof found) == 0);
}

static void test_checksums(void) {
  pl_model model;
  EXPECT(pl_model_init(&model, &first) == PL_OK);
  EXPECT(pl_model_check(&model) == PL_OK);
  EXPECT(pl_model_init(&model, &second) == PL_OK);
  EXPECT(pl_model_check(&model) == PL_ERROR_NO_CHECKSUM);
}

int main(void) {
  test_sharing();
  test_handover();
  test_checksums();
  if (HAS_APART) {
    test_apart();
  }
  return expect_report();
}
