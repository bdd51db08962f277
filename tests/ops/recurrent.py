# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers, cells and networks; rows of the table of patterns."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from aot.upstream.torch import tree_leaves
from tests.ops.case import Case, Input

X, H = 3, 4  # sizes of a step and of the hidden state


class Layers(nn.Module):
    """All outputs of a recurrent layer, one after the other; an LSTM takes its states after x."""

    def __init__(self, make: Callable[[], nn.Module]) -> None:
        super().__init__()
        self.layers = make()

    def forward(self, x: torch.Tensor, *states: torch.Tensor) -> list[torch.Tensor]:
        given: Any = states if len(states) > 1 else next(iter(states), None)
        return tree_leaves(self.layers(x, given))


class Crnn(nn.Module):
    """Convolutions over a spectrogram [1, 1, frames, bins], a GRU over its frames, a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, stride=(1, 2), padding=1)
        self.gru = nn.GRU(4 * 5, 8, batch_first=True)
        self.classifier = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = functional.relu(self.conv(x)).transpose(1, 2).flatten(2)
        scores: torch.Tensor = self.classifier(self.gru(y)[1][-1])
        return scores


class Tagger(nn.Module):
    """A bidirectional LSTM of two layers with a score at every step."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(X, H, 2, bidirectional=True, batch_first=True)
        self.scores = nn.Linear(2 * H, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.scores(self.lstm(x)[0])
        return scores


class Decoder(nn.Module):
    """An encoder hands its states to a decoder."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.decoder = nn.LSTM(X, H), nn.LSTM(2, H)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.decoder(y, self.encoder(x)[1])[0]
        return result


class Attending(nn.Module):
    """A decoder step. Attention over an encoder's steps reads its given states."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.cell = nn.Linear(H, X), nn.LSTMCell(X, H)

    def forward(self, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor) -> list[torch.Tensor]:
        scores = functional.softmax((x * self.query(h)).sum(-1, keepdim=True), 0)
        return list(self.cell((scores * x).sum(0, keepdim=True), (h, c)))


class Captions(nn.Module):
    """A layer's first states are computed of an image, and its last cell state is computed with."""

    def __init__(self) -> None:
        super().__init__()
        self.h, self.c = nn.Linear(5, H), nn.Linear(5, H)
        self.lstm = nn.LSTM(X, H)

    def forward(self, image: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y, (_, c) = self.lstm(x, (self.h(image)[None], self.c(image)[None]))
        return y, torch.tanh(c)


class Tcn(nn.Module):
    """Causal dilated convolutions, each with a way around it."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv1d(3, 4, 1)
        self.convs = nn.ModuleList(nn.Conv1d(4, 4, 3, dilation=2**i) for i in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        for i, conv in enumerate(self.convs):
            x = x + functional.relu(conv(functional.pad(x, (2 * 2**i, 0))))
        return x


# name, layer, shape of x, shapes of states, ops
_LAYERS: tuple[
    tuple[
        str, Callable[[], nn.Module], tuple[int, ...], tuple[tuple[int, ...], ...], dict[str, int]
    ],
    ...,
] = (
    ("lstm", partial(nn.LSTM, X, H), (6, 1, X), (), {"lstm": 1}),
    (
        "lstm_projection",
        partial(nn.LSTM, X, H, proj_size=3),
        (4, 1, X),
        (),
        {"lstm": 1, "linear": 1, "slice": 1},
    ),
    (
        "lstm_projection_of_a_state",
        partial(nn.LSTM, X, H, proj_size=3),
        (4, 1, X),
        ((1, 1, 3), (1, 1, H)),
        {"lstm": 1, "linear": 2, "requantize": 1, "slice": 1},
    ),
    ("lstm_batch", partial(nn.LSTM, X, H, bias=False), (6, 2, X), (), {"lstm": 1}),
    ("lstm_states", partial(nn.LSTM, X, H), (2, 1, X), ((1, 1, H),) * 2, {"lstm": 1}),
    ("gru", partial(nn.GRU, X, H), (6, 1, X), (), {"gru": 1}),
    ("gru_batch_first", partial(nn.GRU, X, H, batch_first=True), (2, 6, X), (), {"gru": 1}),
    (
        "gru_layers",
        partial(nn.GRU, X, H, 2),
        (4, 1, X),
        ((2, 1, H),),
        {"gru": 2, "slice": 2, "cat": 1},
    ),
    (
        "gru_both_directions",
        partial(nn.GRU, X, H, bidirectional=True),
        (4, 2, X),
        (),
        {"gru": 2, "cat": 2},
    ),
    ("rnn", partial(nn.RNN, X, H), (6, 1, X), (), {"rnn": 1}),
    ("rnn_relu", partial(nn.RNN, X, H, nonlinearity="relu"), (6, 1, X), (), {"rnn": 1}),
    ("lstm_cell", partial(nn.LSTMCell, X, H), (1, X), ((1, H),) * 2, {"lstm": 1}),
    ("gru_cell", partial(nn.GRUCell, X, H), (1, X), ((1, H),), {"gru": 1}),
    ("rnn_cell", partial(nn.RNNCell, X, H), (2, X), (), {"rnn": 1}),
)


def cases() -> Iterator[Case]:
    for name, layer, shape, states, ops in _LAYERS:
        inputs = (Input(shape), *(Input(state, -1.0, 1.0) for state in states))
        yield Case(name, partial(Layers, layer), inputs, ops)
    crnn = {"conv2d": 1, "gru": 1, "slice": 1, "linear": 1}
    yield Case("crnn", Crnn, (Input((1, 1, 6, 10)),), crnn)
    tagger = {"lstm": 4, "cat": 2, "linear": 1}
    yield Case("bidirectional_tagger", Tagger, (Input((1, 6, X)),), tagger)
    yield Case("encoder_decoder", Decoder, (Input((4, 1, X)), Input((3, 1, 2))), {"lstm": 2})
    given = (Input((1, H), -1.0, 1.0),) * 2
    attending = {"requantize": 1, "linear": 1, "mul": 2, "mean": 2, "softmax": 1, "lstm": 1}
    yield Case("attending_decoder", Attending, (Input((5, X)), *given), attending)
    captions = {"linear": 2, "requantize": 3, "lstm": 1, "lut": 1}
    yield Case("captions", Captions, (Input((1, 5)), Input((4, 1, X))), captions)
    yield Case("tcn", Tcn, (Input((1, 3, 20)),), {"conv2d": 4, "add": 3}, 2)
