// SPDX-License-Identifier: Apache-2.0
//
// Differences between versions of QEMU's plugin interface.
#ifndef BOARDS_SIMULATOR_PLUGIN_API_H_
#define BOARDS_SIMULATOR_PLUGIN_API_H_

#include "tools/simulator/plugin/qemu_plugin.h"

// Has `translated` called for every block of guest code when it is translated, `at_exit` at the
// end.
void api_register(qemu_plugin_id_t id, void (*translated)(struct qemu_plugin_tb *tb),
                  void (*at_exit)(void));

#endif  // BOARDS_SIMULATOR_PLUGIN_API_H_
