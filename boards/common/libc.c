// SPDX-License-Identifier: Apache-2.0
//
// System interface of newlib: standard input, output and error are the console, there are no files,
// and memory is the image's `heap`.
#include <errno.h>
#include <reent.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "boards/common/console.h"
#include "boards/common/heap.h"
#include "boards/common/link_symbols.h"

int _close(int file);
int _fstat(int file, struct stat *status);
int _getpid(void);
int _isatty(int file);
int _kill(int process, int signal);
int _lseek(int file, int offset, int whence);
int _read(int file, char *data, int size);
int _write(int file, const char *data, int size);
void _exit(int status);
void *_memalign_r(struct _reent *reent, size_t alignment, size_t size);

enum { STANDARD_INPUT = 0, STANDARD_OUTPUT = 1, STANDARD_ERROR = 2 };

static int no_such_file(void) {
  errno = EBADF;
  return -1;
}

int _write(int file, const char *data, int size) {
  if (file != STANDARD_OUTPUT && file != STANDARD_ERROR) {
    return no_such_file();
  }
  pl_console_write(data, (uint32_t)size);
  return size;
}

// Standard input waits for the console, and has no end; where nothing can be received it has ended.
int _read(int file, char *data, int size) {
  if (file != STANDARD_INPUT) {
    return no_such_file();
  }
  uint32_t count = 0;
  while (count == 0 && size > 0 && (uintptr_t)pl_link_uart_rx_pin != PL_NO_RX_PIN) {
    count = pl_console_read(data, (uint32_t)size);
  }
  return (int)count;
}

int _close(int file) {
  (void)file;
  return no_such_file();
}

int _lseek(int file, int offset, int whence) {
  (void)offset;
  (void)whence;
  return file > STANDARD_ERROR ? no_such_file() : 0;
}

// Reports a terminal, so newlib writes each complete line.
int _isatty(int file) { return file <= STANDARD_ERROR; }

int _fstat(int file, struct stat *status) {
  if (file > STANDARD_ERROR) {
    return no_such_file();
  }
  *status = (struct stat){.st_mode = S_IFCHR};
  return 0;
}

int _getpid(void) { return 1; }

int _kill(int process, int signal) {
  (void)process;
  (void)signal;
  abort();
}

__attribute__((noreturn)) void _exit(int status) { pl_exit(status); }

static pl_heap *heap(void) {
  static pl_heap whole;
  if (whole.start == NULL) whole = pl_heap_of(pl_link_heap_start, pl_link_heap_end);
  return &whole;
}

// newlib's form of malloc and similar functions; newlib passes the address of errno.
void *_malloc_r(struct _reent *reent, size_t size) {
  void *const memory = pl_heap_allocate(heap(), size);
  if (memory == NULL) reent->_errno = ENOMEM;
  return memory;
}

void *_memalign_r(struct _reent *reent, size_t alignment, size_t size) {
  void *const memory = pl_heap_allocate_aligned(heap(), alignment, size);
  if (memory == NULL) reent->_errno = ENOMEM;
  return memory;
}

void *_calloc_r(struct _reent *reent, size_t count, size_t size) {
  const uint64_t bytes = (uint64_t)count * size;
  void *const memory = _malloc_r(reent, bytes > SIZE_MAX ? SIZE_MAX : (size_t)bytes);
  return memory == NULL ? NULL : memset(memory, 0, (size_t)bytes);
}

void *_realloc_r(struct _reent *reent, void *memory, size_t size) {
  void *const other = pl_heap_resize(heap(), memory, size);
  if (other == NULL) reent->_errno = ENOMEM;
  return other;
}

void _free_r(struct _reent *reent, void *memory) {
  (void)reent;
  pl_heap_free(heap(), memory);
}

// C++'s operators new, new[], delete and delete[], the last two also with the size.
void *_Znwj(size_t size);
void *_Znaj(size_t size);
void _ZdlPv(void *object);
void _ZdaPv(void *object);
void _ZdlPvj(void *object, size_t size);
void _ZdaPvj(void *object, size_t size);

void *_Znwj(size_t size) {
  void *memory = malloc(size > 0 ? size : 1);
  if (memory == NULL) {
    abort();
  }
  return memory;
}

void *_Znaj(size_t size) { return _Znwj(size); }

void _ZdlPv(void *object) { free(object); }

void _ZdaPv(void *object) { free(object); }

void _ZdlPvj(void *object, size_t size) {
  (void)size;
  free(object);
}

void _ZdaPvj(void *object, size_t size) {
  (void)size;
  free(object);
}
