// SPDX-License-Identifier: Apache-2.0
//
// Before version 7 callbacks of the plugin as a whole get the plugin's id first.
#include <stddef.h>

#include "tools/simulator/plugin/api.h"

QEMU_PLUGIN_EXPORT extern const int qemu_plugin_version;
const int qemu_plugin_version = PLUGIN_API_VERSION;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*callback)(qemu_plugin_id_t id,
                                                            struct qemu_plugin_tb *tb));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id,
                                    void (*callback)(qemu_plugin_id_t id, void *userdata),
                                    void *userdata);

static void (*translated_callback)(struct qemu_plugin_tb *tb);
static void (*at_exit_callback)(void);

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
  (void)id;
  translated_callback(tb);
}

static void on_exit(qemu_plugin_id_t id, void *userdata) {
  (void)id;
  (void)userdata;
  at_exit_callback();
}

void api_register(qemu_plugin_id_t id, void (*translated)(struct qemu_plugin_tb *tb),
                  void (*at_exit)(void)) {
  translated_callback = translated;
  at_exit_callback = at_exit;
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_atexit_cb(id, on_exit, NULL);
}
