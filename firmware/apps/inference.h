// SPDX-License-Identifier: Apache-2.0
//
// Common code of the apps: one stored vector through the model, and its outputs.
#ifndef FIRMWARE_APPS_INFERENCE_H_
#define FIRMWARE_APPS_INFERENCE_H_

#include <stdbool.h>
#include <stdint.h>

#include "firmware/apps/vectors.h"
#include "firmware/runtime/model.h"

typedef struct {
  const pl_vectors *vectors;
  pl_model model;
} pl_app;

// Prepares the model of `vectors`. On an error prints it and ends the program.
void pl_app_init(pl_app *app, const pl_vectors *vectors);

// Starts a new sequence of vectors: the state of the model is as before the first run.
void pl_app_reset(pl_app *app);

// Runs vector `index`, marked as region PL_PROFILE_INFERENCE. On an error prints it and ends the
// program.
void pl_app_run(pl_app *app, uint32_t index);

// The stored output `output` of vector `index`.
const uint8_t *pl_app_expected(const pl_app *app, uint32_t index, uint32_t output);

// Returns true if an output of the last run matches the stored one of vector `index`:
// firmware/apps/compare.h.
bool pl_app_as_expected(const pl_app *app, uint32_t index, uint32_t output);

// Prints "PL:STAT <name> <value>", a result for the program running the board.
void pl_app_stat(const char *name, uint32_t value);

// Prints the last line, PL:PASS or "PL:FAIL <why>", and ends the program.
_Noreturn void pl_app_end(bool pass, const char *why);

#endif  // FIRMWARE_APPS_INFERENCE_H_
