// SPDX-License-Identifier: Apache-2.0
// Four channels at a time, in two rows or one. The 16 bytes of a chunk hold the weights of 32
// values: those of the first 16 in their low halves, those of the others in the high ones. Shifted
// or masked, these are 16 times the weights, and the sums 16 times theirs.
//
// Sums are not begun anew in each group: with s the scales of groups and T the sums up to their
// ends, s0 * T0 + s1 * (T1 - T0) is (s0 - s1) * T0 + s1 * T1, and these differences are what
// group_scale holds.
#include <arm_mve.h>

#include "kernels/common/types.h"
#include "kernels/linear/linear_w4.h"

#define CHANNELS 4
#define CHUNK 32

typedef struct {
  int32_t depth;
  int32_t chunks;  // of a group
  int32_t groups;  // whole ones
  int32_t channels;
  const int8_t *weight;  // of four channels, as are those behind it
  const int8_t *scale;
  const int32_t *constants;  // bias, multiplier and shift
  pl_linear_w4_params stage;
} layer;

// ---- Values behind the chunks -------------------------------------------------------------------
// Less than 32. Of an odd count the one in the middle is in both vectors, and its second weight 0.

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

// Of one of the four channels.
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

// In assembly: the next 16 bytes of weights, times 16 in q5 and q4.
#define UNPACK(WEIGHT, MASK) \
  "vldrb.u8 q4, [" WEIGHT "], #16\n\tvshl.i8 q5, q4, #4\n\tvand q4, q4, " MASK "\n\t"
#define ADD(SUM, X, Y) "vmladava.s8 " SUM ", " X ", q5\n\tvmladava.s8 " SUM ", " Y ", q4\n\t"

// What the loop over groups keeps in memory; r11 points to it.
typedef struct {
  const int8_t *a;       // 0
  const int8_t *b;       // 4
  const int8_t *weight;  // 8
  const int8_t *scale;   // 12
  int32_t chunks;        // 16
  int32_t groups;        // 20
  int32x4_t sums_b;      // 24
} rows;
_Static_assert(__builtin_offsetof(rows, groups) == 20 && __builtin_offsetof(rows, sums_b) == 24,
               "as in add_two_rows");

// r1, r3: rows, r5: weights, r7: scales; r0, r2, r4, r6: sums of the first row, r8, r10, r12, lr:
// of the second. Eight sums are all that VMLADAVA can add to; GCC moves them to and fro.
#define CHANNEL(A, B) UNPACK("r5", "%q[mask]") ADD(A, "q0", "q1") ADD(B, "q2", "q3")
static inline int32x4_t add_two_rows(int32x4_t sums_a, rows *two_rows) {
  register rows *at __asm__("r11") = two_rows;
  __asm__ volatile(
      "ldrd r1, r3, [r11]\n\tldrd r5, r7, [r11, #8]\n\t"
      "movs r0, #0\n\tmovs r2, #0\n\tmovs r4, #0\n\tmovs r6, #0\n\t"
      "mov r8, r0\n\tmov r10, r0\n\tmov r12, r0\n\tmov lr, r0\n\t"
      "1:\n\tldr r9, [r11, #16]\n\t"
      "2:\n\t"
      "vldrb.u8 q0, [r1], #16\n\tvldrb.u8 q1, [r1], #16\n\t"
      "vldrb.u8 q2, [r3], #16\n\tvldrb.u8 q3, [r3], #16\n\t"
      CHANNEL("r0", "r8") CHANNEL("r2", "r10") CHANNEL("r4", "r12") CHANNEL("r6", "lr")
      "subs r9, #1\n\tbne 2b\n\t"
      "vmov d0, r0, r2\n\tvmov d1, r4, r6\n\tvmov d2, r8, r10\n\tvmov d3, r12, lr\n\t"
      "vldrb.s32 q2, [r7], #4\n\tvldrw.u32 q3, [r11, #24]\n\t"
      "vshr.s32 q0, q0, #4\n\tvshr.s32 q1, q1, #4\n\tvmul.i32 q0, q0, q2\n\tvmul.i32 q1, q1, q2\n\t"
      "vadd.i32 %q[a], %q[a], q0\n\tvadd.i32 q3, q3, q1\n\tvstrw.32 q3, [r11, #24]\n\t"
      "ldr r9, [r11, #20]\n\tsubs r9, #1\n\tstr r9, [r11, #20]\n\tbne 1b"
      : [a] "+w"(sums_a)
      : "r"(at), [mask] "w"(vdupq_n_s8(-16))
      : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r12", "lr", "q0", "q1",
        "q2", "q3", "q4", "q5", "cc", "memory");
  return sums_a;
}

#define CHANNEL_OF_ROW(SUM) UNPACK("%[w]", "%q[mask]") ADD("%[" SUM "]", "q0", "q1")
static inline int32x4_t add_row(int32x4_t sums, const layer *of, const int8_t *x, const int8_t *w) {
  const int8_t *scale = of->scale;
  int32_t groups = of->groups;
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
      : [x] "+r"(x), [w] "+r"(w), [scale] "+l"(scale), [groups] "+r"(groups), [a] "+Te"(a),
        [b] "+Te"(b), [c] "+Te"(c), [d] "+Te"(d), [sums] "+w"(sums)
      : [chunks] "r"(of->chunks), [mask] "w"(vdupq_n_s8(-16))
      : "lr", "q0", "q1", "q4", "q5", "cc", "memory");
  return sums;
}

// ---- Rows ---------------------------------------------------------------------------------------

// Stores clamp(requantize(sums) + zero point), of requantize.h for shifts below 0.
static inline void store(const layer *of, int32x4_t sums, int8_t *y) {
  const int32x4_t high = vqrdmulhq_s32(sums, vldrwq_s32(of->constants + CHANNELS));
  int32x4_t all =
      vrshlq_s32(vaddq_s32(high, vshrq_n_s32(high, 31)), vldrwq_s32(of->constants + 2 * CHANNELS));
  all = vqaddq_n_s32(all, of->stage.output_zero_point);
  all = vmaxq_s32(all, vdupq_n_s32(of->stage.activation_min));
  all = vminq_s32(all, vdupq_n_s32(of->stage.activation_max));
  vstrbq_p_s32(y, all, vctp32q((uint32_t)of->channels));
}

// is_two is a constant: whether there is a second row.
PL_INLINE void multiply(layer of, const int8_t *x, int8_t *y, int is_two) {
  const int32_t count = of.depth & (CHUNK - 1);
  const int32_t whole = of.depth - count;
  const int32_t stride = of.channels;
  for (; of.channels > 0; of.channels -= CHANNELS) {
    const int8_t *weight = of.weight + CHANNELS / 2 * whole;
    int32x4_t a = vldrwq_s32(of.constants);
    int32x4_t b = a;
    if (count > 0) {
      const two of_a = values(x + whole, count);
      const two of_b = is_two ? values(x + of.depth + whole, count) : of_a;
      const two w0 = weights(weight, 0, count);
      const two w1 = weights(weight, 1, count);
      const two w2 = weights(weight, 2, count);
      const two w3 = weights(weight, 3, count);
      const int32x4_t scale = vldrbq_s32(of.scale + CHANNELS * of.groups);
      a = add_scaled(a, vector(dot(of_a, w0), dot(of_a, w1), dot(of_a, w2), dot(of_a, w3)), scale);
      if (is_two) {
        b = add_scaled(b, vector(dot(of_b, w0), dot(of_b, w1), dot(of_b, w2), dot(of_b, w3)),
                       scale);
      }
      weight += CHANNELS * ((count + 1) / 2);
    }
    if (of.groups > 0 && is_two) {
      rows two_rows = {x, x + of.depth, of.weight, of.scale, of.chunks, of.groups, b};
      a = add_two_rows(a, &two_rows);
      b = two_rows.sums_b;
    } else if (of.groups > 0) {
      a = add_row(a, &of, x, of.weight);
    }
    store(&of, a, y);
    if (is_two) store(&of, b, y + stride);
    of.weight = weight;
    of.scale += CHANNELS * (of.groups + (count > 0));
    of.constants += 3 * CHANNELS;
    y += CHANNELS;
  }
}

// Not inlined: the loops take all registers.
static __attribute__((noinline)) void multiply_row(const layer *of, const int8_t *x, int8_t *y) {
  multiply(*of, x, y, 0);
}

static __attribute__((noinline)) void multiply_two_rows(const layer *of, const int8_t *x,
                                                        int8_t *y) {
  multiply(*of, x, y, 1);
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
