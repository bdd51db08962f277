// SPDX-License-Identifier: Apache-2.0
// The core sleeps while the NPU works: `wait` and `ticks` of ethos_u_board for boards with
// interrupts (boards/common/irq.h). The program enables the NPU's interrupt.
#ifndef FIRMWARE_ETHOS_U_DRIVER_SLEEP_H_
#define FIRMWARE_ETHOS_U_DRIVER_SLEEP_H_

#include <stdint.h>

#include "firmware/ethos_u/driver/driver.h"

// Sleeps until an interrupt, unless the NPU's has been handled. If the program does not use the
// board's periodic timer, it wakes the core every millisecond, without a call of its handler.
// Otherwise it wakes it at the program's rate. Returns at once if there is no such timer.
void ethos_u_sleep(ethos_u_driver *driver);

// Total sleep time in microseconds, in whole periods of the timer, plus one for each call.
uint32_t ethos_u_sleep_ticks(void);

#endif  // FIRMWARE_ETHOS_U_DRIVER_SLEEP_H_
