// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_RECURRENT_RECURRENT_H_
#define KERNELS_RECURRENT_RECURRENT_H_

#include "kernels/common/types.h"

typedef struct {
  int32_t hidden_bits;  // the hidden state has the scale 2^-hidden_bits, in [0, 15]
  int32_t cell_bits;    // likewise; for an LSTM
  int32_t cell_limit;   // largest magnitude of the cell's state, to 2^15; of an LSTM
  int32_t relu;         // 0: tanh; of an RNN
  int32_t output_multiplier;
  int32_t output_shift;
  int32_t output_zero_point;
} pl_recurrent_params;

// Input and output are rows; step s of batch n is row first_row + s * row_step + n * batch_step.
typedef struct {
  int32_t steps;
  int32_t batches;
  int32_t input_size;
  int32_t hidden_size;
  int32_t first_row;
  int32_t row_step;  // negative where the sequence is taken from its end
  int32_t batch_step;
} pl_recurrent_dims;

// G gates: i, f, g, o for an LSTM; r, z, n for a GRU; one for an RNN. The data of one unit of the
// hidden state are contiguous. Weights are in the order of gates_scalar.h or gates_dsp.h. For cores
// with Helium the data of one gate of four units are contiguous (recurrent_step_mve.h).
typedef struct {
  const void *input;                 // rows of input_size values, int8 or int16
  const int16_t *hidden;             // [batches, hidden_size]
  const int16_t *cell;               // likewise; for an LSTM
  const int8_t *weight;              // [hidden_size][input_size * G]
  const int32_t *bias;               // [hidden_size, G], with the input's zero point folded in
  const int32_t *multiplier;         // [hidden_size, G]
  const int32_t *shift;              // [hidden_size, G]
  const int8_t *hidden_weight;       // [hidden_size][hidden_size * G]
  const int32_t *hidden_bias;        // [hidden_size], of n; of a GRU
  const int32_t *hidden_multiplier;  // [hidden_size, G]
  const int32_t *hidden_shift;       // [hidden_size, G]
  const int16_t *table;              // [385]: (sigmoid(k / 32) - 1/2) * 2^16
  void *output;                      // rows of hidden_size values, likewise
  int16_t *last_hidden;              // [batches, hidden_size]
  int16_t *last_cell;                // likewise, may alias the cell; for an LSTM
} pl_recurrent_data;

// One layer in one direction over a whole sequence; kernels/recurrent/op.py and
// aot/dialect/recurrence.py are the arithmetic. The last part of a name is the type of input and
// output; of int16 their zero points are 0. Scratch: 2 * hidden_size bytes where there are
// several steps.
PL_MUST_USE pl_status pl_gru_s8(const pl_context *ctx, const pl_recurrent_params *params,
                                const pl_recurrent_dims *dims, const pl_recurrent_data *data);
PL_MUST_USE pl_status pl_gru_s16(const pl_context *ctx, const pl_recurrent_params *params,
                                 const pl_recurrent_dims *dims, const pl_recurrent_data *data);
PL_MUST_USE pl_status pl_lstm_s8(const pl_context *ctx, const pl_recurrent_params *params,
                                 const pl_recurrent_dims *dims, const pl_recurrent_data *data);
PL_MUST_USE pl_status pl_lstm_s16(const pl_context *ctx, const pl_recurrent_params *params,
                                  const pl_recurrent_dims *dims, const pl_recurrent_data *data);
PL_MUST_USE pl_status pl_rnn_s8(const pl_context *ctx, const pl_recurrent_params *params,
                                const pl_recurrent_dims *dims, const pl_recurrent_data *data);
PL_MUST_USE pl_status pl_rnn_s16(const pl_context *ctx, const pl_recurrent_params *params,
                                 const pl_recurrent_dims *dims, const pl_recurrent_data *data);

#endif  // KERNELS_RECURRENT_RECURRENT_H_
