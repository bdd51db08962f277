// SPDX-License-Identifier: Apache-2.0
// The core sleeps while the NPU works: `wait` and `ticks` of ethos_u_board for boards with
// interrupts (boards/common/irq.h), whose program enables the NPU's.
#ifndef FIRMWARE_ETHOS_U_DRIVER_SLEEP_H_
#define FIRMWARE_ETHOS_U_DRIVER_SLEEP_H_

#include <stdint.h>

#include "firmware/ethos_u/driver/driver.h"

// Sleeps until an interrupt, unless the NPU's has been handled. The board's periodic timer wakes it
// every millisecond where the program does not use it, without a call of its handler; else at the
// program's rate. Returns at once where there is no such timer.
void ethos_u_sleep(ethos_u_driver *driver);

// Microseconds that were slept so far, in whole periods of the timer, and one for each call.
uint32_t ethos_u_sleep_ticks(void);

#endif  // FIRMWARE_ETHOS_U_DRIVER_SLEEP_H_
