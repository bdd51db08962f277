// SPDX-License-Identifier: Apache-2.0
//
// NXP's NeutronDriver functions the engine calls, declared as in NXP's own header of this name.
// NXP's header replaces this one if its library is linked (docs/neutron.md); NXP's names are kept.
#ifndef FIRMWARE_NEUTRON_INTERFACE_NEUTRONDRIVER_H_
#define FIRMWARE_NEUTRON_INTERFACE_NEUTRONDRIVER_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t NeutronError;

#define ENONE 0

typedef void *NeutronModelHandle;

// A program, in three blocks aligned to 16 bytes.
typedef struct {
  const void *microcode;
  const void *weights;
  const void *kernels;
  uint32_t timeoutSeconds;  // timeout of a run, which then returns an error
} NeutronModelConfig;

// Memory of a run, aligned to 16 bytes. Scratch, profile and debug follow the model's outputs.
typedef struct {
  const void **inputs;
  void **outputs;
  void *scratch;
  void *scratchWeights;  // for weights copied out of flash memory
} NeutronDataConfig;

// Functions that copy weights: `wait` returns when the copy of a channel is complete.
typedef struct {
  void (*copy)(void *dst, void *src, uint32_t size, uint32_t channel);
  void (*wait)(uint32_t channel);
} NeutronConfig;

NeutronError neutronInit(void);
NeutronError neutronSetConfig(NeutronConfig *config);

// Size in bytes of a prepared program if *hdl is memory of the caller's.
size_t neutronGetModelContextSize(void);
NeutronError neutronModelPrepare(const NeutronModelConfig *mcfg, NeutronModelHandle *hdl);
NeutronError neutronModelUnprepare(NeutronModelHandle hdl);
NeutronError neutronRunBlocking(NeutronModelHandle hdl, const NeutronDataConfig *dcfg);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_NEUTRON_INTERFACE_NEUTRONDRIVER_H_
