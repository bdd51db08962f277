// SPDX-License-Identifier: Apache-2.0
//
// Callbacks of the whole plugin receive the userdata of their registration from version 7 on.
#include <stddef.h>

#include "tools/simulator/plugin/api.h"

QEMU_PLUGIN_EXPORT extern const int qemu_plugin_version;
const int qemu_plugin_version = PLUGIN_API_VERSION;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*callback)(struct qemu_plugin_tb *tb,
                                                            void *userdata),
                                           void *userdata);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*callback)(void *userdata),
                                    void *userdata);

static void (*translated_callback)(struct qemu_plugin_tb *tb);
static void (*at_exit_callback)(void);

static void on_translation(struct qemu_plugin_tb *tb, void *userdata) {
  (void)userdata;
  translated_callback(tb);
}

static void on_exit(void *userdata) {
  (void)userdata;
  at_exit_callback();
}

void api_register(qemu_plugin_id_t id, void (*translated)(struct qemu_plugin_tb *tb),
                  void (*at_exit)(void)) {
  translated_callback = translated;
  at_exit_callback = at_exit;
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation, NULL);
  qemu_plugin_register_atexit_cb(id, on_exit, NULL);
}
