// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_COMMON_CLAMP_S8_H_
#define KERNELS_COMMON_CLAMP_S8_H_

#include <stdint.h>

// y[i] = min(max(y[i], minimum), maximum): a separate clamp after layers whose last stage only
// saturates.
void pl_clamp_s8(int8_t *y, int32_t count, int32_t minimum, int32_t maximum);

#endif  // KERNELS_COMMON_CLAMP_S8_H_
