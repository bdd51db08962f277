// SPDX-License-Identifier: Apache-2.0
// The NPU's performance counters. Internal to the driver.
#ifndef FIRMWARE_ETHOS_U_DRIVER_PMU_H_
#define FIRMWARE_ETHOS_U_DRIVER_PMU_H_

#include "firmware/ethos_u/driver/driver.h"

// Clears and starts the counters, or stops them if they are not enabled.
void ethos_u_pmu_start(const ethos_u_pmu *pmu, uintptr_t base);

// Stops the counters and reads them.
void ethos_u_pmu_stop(ethos_u_pmu *pmu, uintptr_t base);

#endif  // FIRMWARE_ETHOS_U_DRIVER_PMU_H_
