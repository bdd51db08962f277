// SPDX-License-Identifier: Apache-2.0
//
// Used part of QEMU's TCG plugin interface, declared by hand: distributions contain no header for
// it. Changes between versions of the interface are in api_*.c, one file per form.
#ifndef BOARDS_SIMULATOR_PLUGIN_QEMU_PLUGIN_H_
#define BOARDS_SIMULATOR_PLUGIN_QEMU_PLUGIN_H_

#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

// Access of a callback to guest registers: none here has any.
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };

typedef void (*qemu_plugin_vcpu_udata_cb_t)(unsigned int vcpu_index, void *userdata);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
                                            qemu_plugin_vcpu_udata_cb_t callback,
                                            enum qemu_plugin_cb_flags flags, void *userdata);

// A read of memory; its details are not used here.
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1 };
typedef uint32_t qemu_plugin_meminfo_t;
typedef void (*qemu_plugin_vcpu_mem_cb_t)(unsigned int vcpu_index, qemu_plugin_meminfo_t info,
                                          uint64_t vaddr, void *userdata);

void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
                                      qemu_plugin_vcpu_mem_cb_t callback,
                                      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
                                      void *userdata);

#endif  // BOARDS_SIMULATOR_PLUGIN_QEMU_PLUGIN_H_
