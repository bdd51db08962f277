# SPDX-License-Identifier: Apache-2.0
from html.parser import HTMLParser

import torch

from aot.artefact.notebook import report_html
from aot.lower import lower
from aot.options import Measure


class _Cells(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.cells.append(data)


def test_a_notebook_shows_ports_ops_and_sizes() -> None:
    torch.manual_seed(0)
    samples = [(torch.rand(1, 8),) for _ in range(8)]
    net = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU()).eval()
    lowered = lower(net, samples[0], calibration=samples, measure=Measure(evaluation=samples))
    page = _Cells(lowered._repr_html_())
    assert page.open == []
    assert "Lowered for cortex-m" in page.cells and "[1, 8]" in page.cells
    assert str(lowered.report["quality"]["outputs"][0]["sqnr_db"]) in page.cells
    assert f"{len(lowered.pte):,}" in page.cells


def test_texts_are_escaped() -> None:
    port = {"name": "<x>", "shape": [1], "dtype": "int8", "scale": 0.5, "zero_point": 0}
    op = {"runs_on": "cortex_m", "precision": "int8", "macs": 1}
    report = {
        "target": "a&b",
        "warnings": [{"kind": "k", "text": "1 < 2", "source": ""}],
        "inputs": [{**port, "layout": "nchw"}],
        "outputs": [],
        "ops": [op],
        "pte_bytes": 1,
        "constant_bytes": 1,
    }
    text = report_html(report)
    assert "<x>" not in text and "&lt;x&gt;" in text and "1 &lt; 2" in text and "a&amp;b" in text
