// SPDX-License-Identifier: Apache-2.0
#include "firmware/ethos_u/driver/pmu.h"

static const uint32_t ALL_COUNTERS =
    ETHOS_U_PM_CYCLE_COUNTER | ((1u << ETHOS_U_PM_EVENT_COUNTERS) - 1);

void ethos_u_pmu_start(const ethos_u_pmu *pmu, uintptr_t base) {
  ethos_u_register_write(base, ETHOS_U_REG_PMCR, 0);
  ethos_u_register_write(base, ETHOS_U_REG_PMCNTENCLR, ALL_COUNTERS);
  if (!pmu->enabled) {
    return;
  }
  uint32_t enabled = ETHOS_U_PM_CYCLE_COUNTER;
  for (uint32_t i = 0; i < ETHOS_U_PM_EVENT_COUNTERS; ++i) {
    ethos_u_register_write(base, ETHOS_U_REG_PMEVTYPER + 4 * i, pmu->events[i]);
    enabled |= pmu->events[i] == 0 ? 0 : 1u << i;
  }
  ethos_u_register_write(base, ETHOS_U_REG_PMOVSCLR, ALL_COUNTERS);
  ethos_u_register_write(base, ETHOS_U_REG_PMCNTENSET, enabled);
  ethos_u_register_write(
      base, ETHOS_U_REG_PMCR,
      ETHOS_U_PMCR_ENABLE | ETHOS_U_PMCR_RESET_EVENTS | ETHOS_U_PMCR_RESET_CYCLES);
}

void ethos_u_pmu_stop(ethos_u_pmu *pmu, uintptr_t base) {
  if (!pmu->enabled) {
    return;
  }
  ethos_u_register_write(base, ETHOS_U_REG_PMCNTENCLR, ALL_COUNTERS);
  const uint32_t high = ethos_u_register_read(base, ETHOS_U_REG_PMCCNTR + 4) & 0xFFFF;
  pmu->cycles = (uint64_t)high << 32 | ethos_u_register_read(base, ETHOS_U_REG_PMCCNTR);
  pmu->overflowed = ethos_u_register_read(base, ETHOS_U_REG_PMOVSSET);
  for (uint32_t i = 0; i < ETHOS_U_PM_EVENT_COUNTERS; ++i) {
    pmu->counts[i] = ethos_u_register_read(base, ETHOS_U_REG_PMEVCNTR + 4 * i);
  }
  ethos_u_register_write(base, ETHOS_U_REG_PMCR, 0);
}
