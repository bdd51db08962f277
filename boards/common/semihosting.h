// SPDX-License-Identifier: Apache-2.0
//
// Arm semihosting. It is used for the one thing no board hardware can do: give an exit status to
// the host. Specification: Arm "Semihosting for AArch32 and AArch64", SYS_EXIT_EXTENDED.
#ifndef BOARDS_COMMON_SEMIHOSTING_H_
#define BOARDS_COMMON_SEMIHOSTING_H_

#include <stdbool.h>
#include <stdint.h>

// Asks the host to end the simulation or debugging session. On silicon without a debugger the
// request is a fault with a pc that pl_semihosting_is_at recognises.
_Noreturn void pl_semihosting_exit(int status);

// Returns true if `pc` is the address of the request.
bool pl_semihosting_is_at(uint32_t pc);

// Sleeps for ever.
_Noreturn void pl_sleep(void);

#endif  // BOARDS_COMMON_SEMIHOSTING_H_
