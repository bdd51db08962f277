// SPDX-License-Identifier: Apache-2.0
// Four channels at a time, in two rows or one. The 16 bytes of a chunk hold the weights of 32
// values. The low halves are those of the first 16, the high halves those of the others. Shifted or
// masked, they are 16 times the weights, and the sums are 16 times the true sums.
//
// Sums do not restart in each group. Let s be the group scales and T the sums up to the group ends.
// Then s0 * T0 + s1 * (T1 - T0) is (s0 - s1) * T0 + s1 * T1. group_scale holds these differences.
#include <arm_mve.h>

#include "kernels/common/types.h"
#include "kernels/linear/linear_w4.h"

#define CHANNELS 4
#define CHUNK 32

typedef struct {
  int32_t depth;
  int32_t chunks;  // per group
  int32_t groups;  // whole ones
  int32_t channels;
  const int8_t *weight;  // for four channels, same as those after it
  const int8_t *scale;
  const int32_t *constants;  // bias, multiplier and shift
  pl_linear_w4_params stage;
} layer;

// ---- Values after the chunks --------------------------------------------------------------------
// Fewer than 32. If the count is odd, the middle value is in both vectors. Its second weight is 0.

// Two vectors of values, or of 16 times their weights.
typedef struct {
  int8x16_t first;
  int8x16_t second;
} two;

static inline two values(const int8_t *x, int32_t count) {
  const int32_t half = (count + 1) / 2;
  const mve_pred16_t lanes = vctp8q((uint32_t)half);
  return (two){vldrbq_z_s8(x, lanes), vldrbq_z_s8(x + count - half, lanes)};
}

// Weights of one of the four channels.
static inline two weights(const int8_t *weight, int32_t channel, int32_t count) {
  const int32_t half = (count + 1) / 2;
  const int8x16_t bytes = vldrbq_z_s8(weight + channel * half, vctp8q((uint32_t)half));
  return (two){vshlq_n_s8(bytes, 4), vandq_s8(bytes, vdupq_n_s8(-16))};
}

static inline int32_t dot(two x, two weights) {
  return vmladavaq_s8(vmladavq_s8(x.first, weights.first), x.second, weights.second);
}

static inline int32x4_t vector(int32_t a, int32_t b, int32_t c, int32_t d) {
  int32x4_t all;
  __asm__("vmov %e0, %1, %2\n\tvmov %f0, %3, %4"  // VMOVs of lanes are twice as many
          : "=&w"(all)
          : "r"(a), "r"(b), "r"(c), "r"(d));
  return all;
}

static inline int32x4_t add_scaled(int32x4_t sum, int32x4_t by_16, int32x4_t scale) {
  return vaddq_s32(sum, vmulq_s32(vshrq_n_s32(by_16, 4), scale));
}

// ---- Chunks -------------------------------------------------------------------------------------

// Assembly: the next 16 bytes of weights, times 16 in q5 and q4.
#define UNPACK(WEIGHT, MASK) \
  "vldrb.u8 q4, [" WEIGHT "], #16\n\tvshl.i8 q5, q4, #4\n\tvand q4, q4, " MASK "\n\t"
#define ADD(SUM, X, Y) "vmladava.s8 " SUM ", " X ", q5\n\tvmladava.s8 " SUM ", " Y ", q4\n\t"

// Memory read by the loops over groups; r11 points to it.
typedef struct {
  const int8_t *a;       // 0
  const int8_t *b;       // 4
  const int8_t *weight;  // 8, moves on, same as the next
  const int8_t *scale;   // 12
  int32_t chunks;        // 16
  int32_t groups;        // 20
  int32_t left;          // 24, groups
  int32x4_t sums_b;      // 32
} rows;
_Static_assert(__builtin_offsetof(rows, left) == 24 && __builtin_offsetof(rows, sums_b) == 32,
               "as in add_two_rows");

// r1, r3: rows; r5: weights; r7: scales; r0, r2, r4, r6: sums of the first row; r8, r10, r12, lr:
// sums of the second. VMLADAVA can add to these eight sums only. GCC would move them to and fro.
#define CHANNEL(A, B) UNPACK("r5", "%q[mask]") ADD(A, "q0", "q1") ADD(B, "q2", "q3")
static inline int32x4_t add_two_rows(int32x4_t sums_a, rows *two_rows) {
  register rows *at __asm__("r11") = two_rows;
  __asm__ volatile(
      "push {r7}\n\tldrd r1, r3, [r11]\n\tldrd r5, r7, [r11, #8]\n\tldr r9, [r11, #20]\n\t"
      "movs r0, #0\n\tmovs r2, #0\n\tmovs r4, #0\n\tmovs r6, #0\n\t"
      "mov r8, r0\n\tmov r10, r0\n\tmov r12, r0\n\tmov lr, r0\n\t"
      "1:\n\tstr r9, [r11, #24]\n\tldr r9, [r11, #16]\n\t"
      "2:\n\t"
      "vldrb.u8 q0, [r1], #16\n\tvldrb.u8 q1, [r1], #16\n\t"
      "vldrb.u8 q2, [r3], #16\n\tvldrb.u8 q3, [r3], #16\n\t"
      CHANNEL("r0", "r8") CHANNEL("r2", "r10") CHANNEL("r4", "r12") CHANNEL("r6", "lr")
      "subs r9, #1\n\tbne 2b\n\t"
      "vmov d0, r0, r2\n\tvmov d1, r4, r6\n\tvmov d2, r8, r10\n\tvmov d3, r12, lr\n\t"
      "vldrb.s32 q2, [r7], #4\n\tvldrw.u32 q3, [r11, #32]\n\t"
      "vshr.s32 q0, q0, #4\n\tvshr.s32 q1, q1, #4\n\tvmul.i32 q0, q0, q2\n\tvmul.i32 q1, q1, q2\n\t"
      "vadd.i32 %q[a], %q[a], q0\n\tvadd.i32 q3, q3, q1\n\tvstrw.32 q3, [r11, #32]\n\t"
      "ldr r9, [r11, #24]\n\tsubs r9, #1\n\tbne 1b\n\tstrd r5, r7, [r11, #8]\n\t"
      "pop {r7}"  // may be the frame pointer, which no clobber list has
      : [a] "+w"(sums_a)
      : "r"(at), [mask] "w"(vdupq_n_s8(-16))
      : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r12", "lr", "q0", "q1",
        "q2", "q3", "q4", "q5", "cc", "memory");
  return sums_a;
}

#define CHANNEL_OF_ROW(SUM) UNPACK("%[w]", "%q[mask]") ADD("%[" SUM "]", "q0", "q1")
static inline int32x4_t add_row(int32x4_t sums, rows *at) {
  const int8_t *x = at->a;
  int32_t groups = at->groups;
  int32_t a = 0;
  int32_t b = 0;
  int32_t c = 0;
  int32_t d = 0;
  __asm__ volatile(
      "1:\n\tdls lr, %[chunks]\n\t"
      "2:\n\t"
      "vldrb.u8 q0, [%[x]], #16\n\tvldrb.u8 q1, [%[x]], #16\n\t"
      CHANNEL_OF_ROW("a") CHANNEL_OF_ROW("b") CHANNEL_OF_ROW("c") CHANNEL_OF_ROW("d")
      "le lr, 2b\n\t"
      "vmov d0, %[a], %[b]\n\tvmov d1, %[c], %[d]\n\tvldrb.s32 q1, [%[scale]], #4\n\t"
      "vshr.s32 q0, q0, #4\n\tvmul.i32 q0, q0, q1\n\tvadd.i32 %q[sums], %q[sums], q0\n\t"
      "subs %[groups], #1\n\tbne 1b"
      : [x] "+r"(x), [w] "+r"(at->weight), [scale] "+l"(at->scale), [groups] "+r"(groups),
        [a] "+Te"(a), [b] "+Te"(b), [c] "+Te"(c), [d] "+Te"(d), [sums] "+w"(sums)
      : [chunks] "r"(at->chunks), [mask] "w"(vdupq_n_s8(-16))
      : "lr", "q0", "q1", "q4", "q5", "cc", "memory");
  return sums;
}

// requantize.h for shifts below 0.
static inline int32x4_t narrow(int32x4_t sums, int32x4_t multiplier, int32x4_t shift,
                               const pl_linear_w4_params *stage) {
  const int32x4_t high = vqrdmulhq_s32(sums, multiplier);
  const int32x4_t y = vrshlq_s32(vaddq_s32(high, vshrq_n_s32(high, 31)), shift);
  const int32x4_t value = vqaddq_n_s32(y, stage->output_zero_point);
  return vminq_s32(vmaxq_s32(value, vdupq_n_s32(stage->activation_min)),
                   vdupq_n_s32(stage->activation_max));
}

// ---- Rows ---------------------------------------------------------------------------------------

// is_two is a constant: 1 if there is a second row.
PL_INLINE void multiply(const layer *of, const int8_t *x, int8_t *y, int is_two) {
  const int32_t count = of->depth & (CHUNK - 1);
  const int32_t whole = of->depth - count;
  const int32_t *constants = of->constants;
  rows at = {.a = x,
             .b = x + of->depth,
             .weight = of->weight,
             .scale = of->scale,
             .chunks = of->chunks,
             .groups = of->groups};
  for (int32_t left = of->channels; left > 0; left -= CHANNELS) {
    int32x4_t a = vldrwq_s32(constants);
    at.sums_b = a;
    if (at.groups > 0) a = is_two ? add_two_rows(a, &at) : add_row(a, &at);
    int32x4_t b = at.sums_b;
    if (count > 0) {
      const two of_a = values(at.a + whole, count);
      const two of_b = is_two ? values(at.b + whole, count) : of_a;
      const two w0 = weights(at.weight, 0, count);
      const two w1 = weights(at.weight, 1, count);
      const two w2 = weights(at.weight, 2, count);
      const two w3 = weights(at.weight, 3, count);
      const int32x4_t scale = vldrbq_s32(at.scale);
      a = add_scaled(a, vector(dot(of_a, w0), dot(of_a, w1), dot(of_a, w2), dot(of_a, w3)), scale);
      if (is_two) {
        b = add_scaled(b, vector(dot(of_b, w0), dot(of_b, w1), dot(of_b, w2), dot(of_b, w3)),
                       scale);
      }
      at.weight += CHANNELS * ((count + 1) / 2);
      at.scale += CHANNELS;
    }
    const int32x4_t multiplier = vldrwq_s32(constants + CHANNELS);
    const int32x4_t shift = vldrwq_s32(constants + 2 * CHANNELS);
    const mve_pred16_t lanes = vctp32q((uint32_t)left);
    vstrbq_p_s32(y, narrow(a, multiplier, shift, &of->stage), lanes);
    if (is_two) vstrbq_p_s32(y + of->channels, narrow(b, multiplier, shift, &of->stage), lanes);
    constants += 3 * CHANNELS;
    y += CHANNELS;
  }
}

// Not inlined: the loops take all registers.
static __attribute__((noinline)) void multiply_row(const layer *of, const int8_t *x, int8_t *y) {
  multiply(of, x, y, 0);
}

static __attribute__((noinline)) void multiply_two_rows(const layer *of, const int8_t *x,
                                                        int8_t *y) {
  multiply(of, x, y, 1);
}

pl_status pl_linear_w4_blocks_s8(const pl_context *ctx, const pl_linear_w4_params *params,
                                 const pl_linear_w4_dims *dims, const pl_linear_w4_data *data) {
  (void)ctx;
  const layer of = {
      .depth = dims->input_channels,
      .chunks = dims->group / CHUNK,
      .groups = dims->input_channels / dims->group,
      .channels = dims->output_channels,
      .weight = data->weight,
      .scale = data->group_scale,
      .constants = data->bias,
      .stage = *params,
  };
  const int8_t *x = data->input;
  int8_t *y = data->output;
  int32_t left = dims->rows;
  for (; left > 1; left -= 2) {
    multiply_two_rows(&of, x, y);
    x += 2 * of.depth;
    y += 2 * of.channels;
  }
  if (left == 1) multiply_row(&of, x, y);
  return PL_OK;
}
