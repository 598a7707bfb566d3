"""The parts of ONNX's file format that the default embedder needs: reading the tensors of a model, and writing a model.

A file is one protobuf message; https://github.com/onnx/onnx/blob/main/onnx/onnx.proto numbers the fields used here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from numpy.typing import NDArray

IR_VERSION: Final = 8
OPSET_VERSION: Final = 17
CONTRIB_DOMAIN: Final = "com.microsoft"
"""Where onnxruntime has the operators that do what several of the standard's do."""

_TYPES: Final = {1: "<f4", 3: "i1", 6: "<i4", 7: "<i8", 9: "?"}
_NUMBER_OF_TYPE: Final = {"float32": 1, "int8": 3, "int32": 6, "int64": 7}
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_MODEL_IR, _MODEL_GRAPH, _MODEL_OPSET = 1, 7, 8
_GRAPH_NODE, _GRAPH_NAME, _GRAPH_TENSOR, _GRAPH_INPUT, _GRAPH_OUTPUT = 1, 2, 5, 11, 12
_TENSOR_SHAPE, _TENSOR_TYPE, _TENSOR_NAME, _TENSOR_DATA = 1, 2, 8, 9
_NODE_ATTRIBUTE, _ATTRIBUTE_FLOAT, _ATTRIBUTE_INTEGER, _ATTRIBUTE_TYPE = 5, 2, 3, 20
_FLOAT, _INTEGER = 1, 2


def read_tensors(model: bytes) -> dict[str, NDArray[Any]]:
    """Return the constants of a well-formed model by name, as views of its bytes, in the file's order."""
    import numpy as np

    tensors = {}
    graph = next(value for field, value in _fields(memoryview(model)) if field == _MODEL_GRAPH)
    for field, value in _fields(graph):
        if field != _GRAPH_TENSOR:
            continue
        shape: list[int] = []
        parts: dict[int, Any] = {}
        for number, part in _fields(value):
            if number == _TENSOR_SHAPE:
                shape.extend([part] if isinstance(part, int) else _varints(part))
            else:
                parts[number] = part
        data = np.frombuffer(parts[_TENSOR_DATA], dtype=_TYPES[parts[_TENSOR_TYPE]])
        tensors[str(parts[_TENSOR_NAME], "utf-8")] = data.reshape(shape)
    return tensors


def _fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each field: an integer, or the bytes of anything else."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == _VARINT:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        size = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}.get(kind)
        if size is None:
            size, at = _varint(message, at)
        yield key >> 3, message[at : at + size]
        at += size


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """Return the integer that begins there, and where it ends."""
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _varints(packed: memoryview) -> list[int]:
    numbers, at = [], 0
    while at < len(packed):
        number, at = _varint(packed, at)
        numbers.append(number)
    return numbers


_Parts = list["bytes | memoryview"]
"""A message in pieces: weights are copied once, when all are put together."""


def _varint_bytes(value: int) -> bytes:
    written = bytearray()
    value &= (1 << 64) - 1  # a negative number has all of its 64 bits
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


def _integer(field: int, value: int) -> _Parts:
    return [_varint_bytes(field << 3 | _VARINT) + _varint_bytes(value)]


def _float(field: int, value: float) -> _Parts:
    return [_varint_bytes(field << 3 | _FOUR_BYTES) + struct.pack("<f", value)]


def _message(field: int, *fields: _Parts) -> _Parts:
    parts = list(chain.from_iterable(fields))
    return [_varint_bytes(field << 3 | _BYTES) + _varint_bytes(sum(map(len, parts))), *parts]


def _text(field: int, value: str) -> _Parts:
    return _message(field, [value.encode()])


class ModelWriter:
    """Collects the constants and nodes of a model, and returns it as bytes."""

    def __init__(self) -> None:
        self._fields: _Parts = []

    def constant(self, name: str, array: NDArray[Any]) -> str:
        """Add a constant of float32, int8, int32 or int64, and return its name."""
        import numpy as np

        described = [_integer(_TENSOR_SHAPE, size) for size in array.shape]
        described.append(_integer(_TENSOR_TYPE, _NUMBER_OF_TYPE[array.dtype.name]))
        data = _message(_TENSOR_DATA, [np.ascontiguousarray(array).data.cast("B")])
        self._fields += _message(_GRAPH_TENSOR, *described, _text(_TENSOR_NAME, name), data)
        return name

    def node(
        self, operator: str, inputs: Sequence[str], output: str, *, domain: str = "", **attributes: float
    ) -> str:
        """Add a node with one output, and return that output's name. An attribute is an integer or a float."""
        fields = [
            *(_text(1, name) for name in inputs),
            _text(2, output),
            _text(4, operator),
            _text(7, domain),
        ]
        for name, value in attributes.items():
            if isinstance(value, int):
                number, kind = _integer(_ATTRIBUTE_INTEGER, value), _INTEGER
            else:
                number, kind = _float(_ATTRIBUTE_FLOAT, value), _FLOAT
            fields.append(_message(_NODE_ATTRIBUTE, _text(1, name), number, _integer(_ATTRIBUTE_TYPE, kind)))
        self._fields += _message(_GRAPH_NODE, *fields)
        return output

    def model(self, inputs: Mapping[str, tuple[str, Sequence[str]]], output: str) -> bytes:
        """Return the model: `inputs` has the type of each and the names of its sizes; the output is of float32."""
        graph = [self._fields, _text(_GRAPH_NAME, "hexad")]
        for name, (kind, sizes) in inputs.items():
            shape = _message(2, *(_message(1, _text(2, size)) for size in sizes))
            graph.append(_value(_GRAPH_INPUT, name, _integer(1, _NUMBER_OF_TYPE[kind]), shape))
        graph.append(_value(_GRAPH_OUTPUT, output, _integer(1, _NUMBER_OF_TYPE["float32"])))
        opsets = [
            _message(_MODEL_OPSET, _text(1, domain), _integer(2, version))
            for domain, version in (("", OPSET_VERSION), (CONTRIB_DOMAIN, 1))
        ]
        fields = [_integer(_MODEL_IR, IR_VERSION), _message(_MODEL_GRAPH, *graph), *opsets]
        return b"".join(chain.from_iterable(fields))


def _value(field: int, name: str, *described: _Parts) -> _Parts:
    """Return the description of an input or output: its type, and its shape where that is said."""
    return _message(field, _text(1, name), _message(2, _message(1, *described)))
