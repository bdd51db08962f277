// SPDX-License-Identifier: Apache-2.0
//
// From version 2 on a plugin reads registers by handle, into a growing array of GLib, which QEMU
// brings along.
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tools/qemu/plugin/api.h"

struct qemu_plugin_register;

// GLib's arrays; the length of the first counts elements, of the second bytes.
typedef struct {
  char *data;
  unsigned int length;
} GArray;

typedef struct {
  uint8_t *data;
  unsigned int length;
} GByteArray;

// The start of a description; later versions have more members.
typedef struct {
  struct qemu_plugin_register *handle;
  const char *name;
} register_description;

GByteArray *g_byte_array_new(void);
GByteArray *g_byte_array_set_size(GByteArray *array, unsigned int length);
GArray *qemu_plugin_get_registers(void);
// Returns an int up to version 5 and a bool afterwards; the length of the array tells the same.
void qemu_plugin_read_register(struct qemu_plugin_register *handle, GByteArray *value);

// Cortex-M's r0 is the first register that QEMU names. Its handle may be null.
static bool find_r0(struct qemu_plugin_register **handle) {
  const GArray *registers = qemu_plugin_get_registers();
  if (registers == NULL || registers->length == 0) {
    return false;
  }
  register_description first;
  memcpy(&first, registers->data, sizeof first);
  *handle = first.handle;
  return strcmp(first.name, "r0") == 0;
}

bool api_read_r0(uint32_t *value) {
  static struct qemu_plugin_register *handle;
  static GByteArray *buffer;
  if (buffer == NULL) {
    if (!find_r0(&handle)) {
      return false;
    }
    buffer = g_byte_array_new();
  }
  g_byte_array_set_size(buffer, 0);
  qemu_plugin_read_register(handle, buffer);
  if (buffer->length != sizeof *value) {
    return false;
  }
  memcpy(value, buffer->data, sizeof *value);
  return true;
}
