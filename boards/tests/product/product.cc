// SPDX-License-Identifier: Apache-2.0
//
// Parts of a real product's program: C++ with constructors before main, a vendor's code, the C
// library's printf and malloc. It also has a buffer larger than the memory left to variables by
// plans.
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boards/common/chip.h"
#include "boards/common/console.h"
#include "boards/common/expect.h"
#include "boards/common/print.h"
#include "boards/common/stack.h"
#include "boards/irqs.h"
#include "boards/tests/product/vendor.h"
#include "firmware/ethos_u/engine.h"
#include "firmware/runtime/delegate.h"
#include "firmware/runtime/model.h"
#include "firmware/runtime/profile.h"
#include "npu/ethos_u/device.h"

namespace {

uint8_t buffer[BUFFER_BYTES];
int constructed;

class Sensor {
 public:
  virtual ~Sensor() { constructed = -1; }
  virtual int read() = 0;
};

class Counter final : public Sensor {
 public:
  explicit Counter(int first) : next_(first), order_(++constructed) {}
  int read() override { return next_++; }
  int order() const { return order_; }

 private:
  int next_;
  int order_;
};

__attribute__((init_priority(2000))) Counter second(20);
__attribute__((init_priority(1000))) Counter first(10);
Counter third(30);

int of_a_function() {
  static Counter fourth(40);
  return 10 * fourth.read() + fourth.order();
}

void try_memory() {
  Sensor *sensor = new Counter(7);
  EXPECT_EQUAL(sensor->read(), 7);
  delete sensor;
  EXPECT_EQUAL(constructed, -1);
  // More than the heap has is refused, and the heap is as it was.
  int *numbers = new int[4]{1, 2, 3, 4};
  volatile size_t too_many = 16 * 1024 * 1024;
  EXPECT(malloc(too_many) == nullptr);
  EXPECT_EQUAL(numbers[3], 4);
  delete[] numbers;
}

void try_text() {
  char text[40];
  snprintf(text, sizeof text, "%d %s %.3f", -3, "four", 5.5);
  EXPECT(strcmp(text, "-3 four 5.500") == 0);
  printf("%s, %lu bytes\n", text, static_cast<unsigned long>(sizeof buffer));
}

// Input is read by lines, or by characters if the heap has no room for a buffer.
void try_input() {
  EXPECT_EQUAL(getchar(), 'o');
  EXPECT_EQUAL(getchar(), 'k');
  EXPECT_EQUAL(getchar(), '\n');
}

}  // namespace

int main() {
  EXPECT_EQUAL(first.order(), 1);
  EXPECT_EQUAL(second.order(), 2);
  EXPECT_EQUAL(third.order(), 3);
  EXPECT_EQUAL(second.read() + second.read(), 41);
  EXPECT_EQUAL(of_a_function(), 404);
  EXPECT_EQUAL(of_a_function(), 414);
  try_memory();
  try_text();
  try_input();
  for (uint32_t i = 0; i < sizeof buffer; ++i) {
    EXPECT_EQUAL(buffer[i], 0);
    buffer[i] = static_cast<uint8_t>(i);
  }
  EXPECT_EQUAL(vendor_checksum(buffer, sizeof buffer), VENDOR_CHECKSUM);
#ifdef FAILS
  assert(buffer[1] == 2);
#endif
  assert(buffer[1] == 1);
  return expect_report();
}
