// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_ETHOS_U_FUZZ_FUZZ_TARGET_H_
#define TESTS_ETHOS_U_FUZZ_FUZZ_TARGET_H_

#include <stddef.h>
#include <stdint.h>

// libFuzzer's entry: treats the bytes as a payload, and runs it if this is fast enough. Memory has
// exactly the stream's size, so sanitizers detect every access beyond it.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Number of inputs per stage reached, for the bounded run.
extern uint32_t fuzz_parsed;
extern uint32_t fuzz_inspected;
extern uint32_t fuzz_executed;

#endif  // TESTS_ETHOS_U_FUZZ_FUZZ_TARGET_H_
