// SPDX-License-Identifier: Apache-2.0
//
// What differs between versions of QEMU's plugin interface.
#ifndef TOOLS_QEMU_PLUGIN_API_H_
#define TOOLS_QEMU_PLUGIN_API_H_

#include "tools/qemu/plugin/qemu_plugin.h"

// Has `translated` called for every block of guest code when it is translated, `at_exit` at the
// end.
void api_register(qemu_plugin_id_t id, void (*translated)(struct qemu_plugin_tb *tb),
                  void (*at_exit)(void));

#endif  // TOOLS_QEMU_PLUGIN_API_H_
