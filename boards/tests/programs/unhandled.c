// SPDX-License-Identifier: Apache-2.0
//
// An interrupt without a handler.
#include "boards/common/irq.h"

int main(void) {
  pl_irq_set_pending(0);
  pl_irq_enable(0);
  return 0;
}
