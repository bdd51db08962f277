// SPDX-License-Identifier: Apache-2.0
//
// What newlib asks of a system: standard output and error are the console, there are no files, and
// memory is the image's `heap`.
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "boards/common/console.h"
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
void *_sbrk(intptr_t increment);

enum { STANDARD_OUTPUT = 1, STANDARD_ERROR = 2 };

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

// Nothing comes in: the end of the file.
// NOLINTNEXTLINE(readability-non-const-parameter): newlib declares it so.
int _read(int file, char *data, int size) {
  (void)data;
  (void)size;
  return file == 0 ? 0 : no_such_file();
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

// A terminal, of which newlib writes each line when it is whole.
int _isatty(int file) { return file <= STANDARD_ERROR; }

int _fstat(int file, struct stat *status) {
  if (file > STANDARD_ERROR) {
    return no_such_file();
  }
  status->st_mode = S_IFCHR;
  return 0;
}

int _getpid(void) { return 1; }

int _kill(int process, int signal) {
  (void)process;
  (void)signal;
  abort();
}

__attribute__((noreturn)) void _exit(int status) { pl_exit(status); }

void *_sbrk(intptr_t increment) {
  static intptr_t used;
  const intptr_t size = (intptr_t)pl_link_heap_end - (intptr_t)pl_link_heap_start;
  if (increment > size - used || increment < -used) {
    errno = ENOMEM;
    return (void *)-1;
  }
  uint8_t *memory = pl_link_heap_start + used;
  used += increment;
  return memory;
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
