// SPDX-License-Identifier: Apache-2.0
//
// Functions that compiled C++ calls if there is no C++ library: "C++ ABI for the Arm Architecture".
// Programs without C++ contain nothing of it.
#include <stdlib.h>

int __aeabi_atexit(void *object, void (*destroy)(void *), void *library);
void __cxa_pure_virtual(void);

// Identifies the program among shared libraries. There are none here.
void *__dso_handle;

// Static objects are never destroyed: the program ends by sleeping.
int __aeabi_atexit(void *object, void (*destroy)(void *), void *library) {
  (void)object;
  (void)destroy;
  (void)library;
  return 0;
}

void __cxa_pure_virtual(void) { abort(); }

// operator delete(void *) and (void *, size): virtual destructors refer to them even if nothing is
// deleted. Those of `libc`, or the program's own, replace them.
__attribute__((weak)) void _ZdlPv(void *object);
__attribute__((weak)) void _ZdlPvj(void *object, size_t size);

void _ZdlPv(void *object) {
  (void)object;
  abort();
}

void _ZdlPvj(void *object, size_t size) {
  (void)size;
  _ZdlPv(object);
}
