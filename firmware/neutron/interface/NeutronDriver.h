// SPDX-License-Identifier: Apache-2.0
//
// What the engine calls of NXP's NeutronDriver, declared as NXP's own header of this name has it.
// NXP's takes its place where its library is linked (docs/neutron.md); NXP's names are kept.
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
  uint32_t timeoutSeconds;  // after which a run ends with an error
} NeutronModelConfig;

// Memory of a run, aligned to 16 bytes. Behind the model's outputs are those for scratch, profile
// and debug.
typedef struct {
  const void **inputs;
  void **outputs;
  void *scratch;
  void *scratchWeights;  // for weights that are copied out of flash memory
} NeutronDataConfig;

// How weights are copied: `wait` returns when the copy of a channel is there.
typedef struct {
  void (*copy)(void *dst, void *src, uint32_t size, uint32_t channel);
  void (*wait)(uint32_t channel);
} NeutronConfig;

NeutronError neutronInit(void);
NeutronError neutronSetConfig(NeutronConfig *config);

// Bytes that a prepared program takes, where *hdl is memory of the caller's.
size_t neutronGetModelContextSize(void);
NeutronError neutronModelPrepare(const NeutronModelConfig *mcfg, NeutronModelHandle *hdl);
NeutronError neutronModelUnprepare(NeutronModelHandle hdl);
NeutronError neutronRunBlocking(NeutronModelHandle hdl, const NeutronDataConfig *dcfg);

#ifdef __cplusplus
}
#endif

#endif  // FIRMWARE_NEUTRON_INTERFACE_NEUTRONDRIVER_H_
