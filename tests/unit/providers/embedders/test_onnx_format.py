from __future__ import annotations

import numpy as np
import onnxruntime
import pytest

from hexad.providers.embedders.onnx_format import ModelWriter, read_tensors


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.array([[-127, 127]], dtype=np.int8),
        np.array([-1, 300, 1 << 40]),
        np.arange(200, dtype=np.int32).reshape(2, 100).T,
        np.array(7, dtype=np.int64),
    ],
)
def test_a_constant_that_was_written_is_read_as_it_was(array):
    writer = ModelWriter()
    writer.node("Identity", [writer.constant("constant", array)], "same")

    read = read_tensors(writer.model({"x": ("float32", ["size"])}, "same"))

    assert ["constant"] == list(read)
    assert array.dtype == read["constant"].dtype
    np.testing.assert_array_equal(array, read["constant"])


def test_a_model_that_was_written_runs_with_its_attributes():
    writer = ModelWriter()
    scaled = writer.node("LeakyRelu", ["x"], "scaled", alpha=0.5)
    writer.node("Concat", [scaled, writer.constant("more", np.ones((1, 2), np.float32))], "y", axis=-2)
    model = writer.model({"x": ("float32", ["rows", "columns"])}, "y")

    session = onnxruntime.InferenceSession(model)
    rows = session.run(None, {"x": np.array([[-2.0, 4.0]], np.float32)})[0]

    assert [[-1.0, 4.0], [1.0, 1.0]] == rows.tolist()
