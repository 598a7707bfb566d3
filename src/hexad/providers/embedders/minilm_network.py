"""The network of the default embedder: its weights as the model's file has them, and two ways to run it.

`fused_model` returns the network for onnxruntime, in fewer and larger steps than the published file has; `hidden_rows`
runs it with NumPy, for a program of a few texts. Both give what the file itself gives, but for float noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from hexad.providers.embedders.onnx_format import CONTRIB_DOMAIN, ModelWriter, read_tensors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hexad.providers.embedders.rows import FloatRows

HEADS: Final = 12
SIZE: Final = 384
_EPSILON: Final = 1e-12
_POSITIONS: Final = 256
_EMBEDDINGS: Final = "inner.embeddings."
_LAYER: Final = "inner.encoder.layer."
_MATRICES: Final = 6
"""Of each layer: query, key, value, the attention's output, into the inner layer, and out of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dense:
    """A matrix of int8 with a scale for each column, and what is added to a product with it."""

    quantised: NDArray[np.int8]
    scale: FloatRows
    bias: FloatRows


@dataclass(frozen=True, slots=True, kw_only=True)
class Norm:
    """What a normalised row is multiplied with, and what is added."""

    weight: FloatRows
    bias: FloatRows


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """The weights of one layer."""

    query: Dense
    key: Dense
    value: Dense
    attended: Dense
    inner: Dense
    outer: Dense
    attention_norm: Norm
    output_norm: Norm


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """All weights: of pieces and positions, and of the layers in order."""

    pieces: NDArray[np.int8]
    piece_scales: FloatRows
    positions: FloatRows
    norm: Norm
    layers: Sequence[Layer]


def read_network(model: bytes) -> Network:
    """Return the weights of the one model file that is accepted, as views of its bytes."""
    import numpy as np

    tensors = read_tensors(model)
    # Only these have no name of the model's own; the file has them in the order of their use.
    matrices = [
        name.removesuffix("_q") for name in tensors if name.startswith("val_") and name.endswith("_q")
    ]

    def dense(number: int, bias: str) -> Dense:
        name = matrices[number]
        return Dense(
            quantised=tensors[f"{name}_q"], scale=tensors[f"{name}_scale"], bias=tensors[f"{bias}.bias"]
        )

    def norm(name: str) -> Norm:
        return Norm(weight=tensors[f"{name}.weight"], bias=tensors[f"{name}.bias"])

    def layers() -> Iterator[Layer]:
        for number in range(len(matrices) // _MATRICES):
            name, first = f"{_LAYER}{number}.", number * _MATRICES
            yield Layer(
                query=dense(first, f"{name}attention.self.query"),
                key=dense(first + 1, f"{name}attention.self.key"),
                value=dense(first + 2, f"{name}attention.self.value"),
                attended=dense(first + 3, f"{name}attention.output.dense"),
                inner=dense(first + 4, f"{name}intermediate.dense"),
                outer=dense(first + 5, f"{name}output.dense"),
                attention_norm=norm(f"{name}attention.output.LayerNorm"),
                output_norm=norm(f"{name}output.LayerNorm"),
            )

    places = tensors[f"{_EMBEDDINGS}position_embeddings.weight_q"][:_POSITIONS].astype(np.float32)
    places *= tensors[f"{_EMBEDDINGS}position_embeddings.weight_scale"][:_POSITIONS]
    return Network(
        pieces=tensors[f"{_EMBEDDINGS}word_embeddings.weight_q"],
        piece_scales=tensors[f"{_EMBEDDINGS}word_embeddings.weight_scale"],
        positions=places
        + tensors[f"{_EMBEDDINGS}token_type_embeddings.weight"][0],  # every text is of type 0
        norm=norm(f"{_EMBEDDINGS}LayerNorm"),
        layers=tuple(layers()),
    )


def fused_model(network: Network) -> bytes:
    """Return the network as a model of `ids`, `positions` and `mask`, whose output has a row for each piece.

    The published file computes attention and GELU in a dozen steps each. LayerNormalization after an addition is not
    fused: onnxruntime's SkipLayerNormalization takes five times as long as the two.
    """
    import numpy as np

    writer = ModelWriter()

    def normalised(norm: Norm, x: str, name: str) -> str:
        weights = [
            writer.constant(f"{name}.weight", norm.weight),
            writer.constant(f"{name}.bias", norm.bias),
        ]
        return writer.node("LayerNormalization", [x, *weights], name, axis=-1, epsilon=_EPSILON)

    def matrix(name: str, *parts: Dense) -> str:
        # It becomes float32 when the model is loaded: of all ways that were tried, this one copies the least.
        quantised = writer.constant(
            f"{name}.int8", np.concatenate([part.quantised for part in parts], axis=1)
        )
        scale = writer.constant(f"{name}.scale", np.concatenate([part.scale for part in parts], axis=1))
        return writer.node("Mul", [writer.node("Cast", [quantised], f"{name}.cast", to=1), scale], name)

    def product(dense: Dense, x: str, name: str) -> str:
        return writer.node("MatMul", [x, matrix(f"{name}.matrix", dense)], f"{name}.product")

    def added(dense: Dense, x: str, name: str) -> str:
        return writer.node(
            "Add", [product(dense, x, name), writer.constant(f"{name}.bias", dense.bias)], name
        )

    pieces = writer.node("Gather", [writer.constant("pieces", network.pieces), "ids"], "quantised")
    scales = writer.node("Gather", [writer.constant("piece_scales", network.piece_scales), "ids"], "scales")
    pieces = writer.node("Mul", [writer.node("Cast", [pieces], "floats", to=1), scales], "embedded")
    places = writer.node("Gather", [writer.constant("places", network.positions), "positions"], "placed")
    x = normalised(network.norm, writer.node("Add", [pieces, places], "begin"), "norm")
    for number, layer in enumerate(network.layers):
        name = f"layer{number}."
        parts = (layer.query, layer.key, layer.value)
        attention = [
            x,
            matrix(f"{name}qkv", *parts),
            writer.constant(f"{name}qkv.bias", np.concatenate([part.bias for part in parts])),
            "mask",
        ]
        heads = writer.node("Attention", attention, f"{name}heads", domain=CONTRIB_DOMAIN, num_heads=HEADS)
        heads = added(layer.attended, heads, f"{name}attended")
        y = normalised(layer.attention_norm, writer.node("Add", [heads, x], f"{name}sum"), f"{name}norm")
        inner = [
            product(layer.inner, y, f"{name}inner"),
            writer.constant(f"{name}inner.bias", layer.inner.bias),
        ]
        inner_name = writer.node("BiasGelu", inner, f"{name}gelu", domain=CONTRIB_DOMAIN)
        outer = added(layer.outer, inner_name, f"{name}outer")
        x = normalised(layer.output_norm, writer.node("Add", [outer, y], f"{name}sum2"), f"{name}norm2")
    sizes = ["texts", "length"]
    return writer.model(
        {"ids": ("int64", sizes), "positions": ("int64", sizes[1:]), "mask": ("int32", sizes)}, x
    )


def hidden_rows(network: Network, ids: Sequence[int]) -> FloatRows:
    """Return the row of each piece of one text, computed with NumPy: nothing is prepared, and nothing is kept."""
    import numpy as np

    pieces = np.asarray(ids)
    x = network.pieces[pieces].astype(np.float32) * network.piece_scales[pieces]
    x = _normalised(network.norm, x + network.positions[: len(pieces)])
    for layer in network.layers:
        query, key, value = (
            _added(part, x).reshape(len(pieces), HEADS, -1).transpose(1, 0, 2)
            for part in (layer.query, layer.key, layer.value)
        )
        weights = query @ key.transpose(0, 2, 1) / np.float32(np.sqrt(SIZE / HEADS))
        weights = np.exp(weights - weights.max(axis=2, keepdims=True))
        weights /= weights.sum(axis=2, keepdims=True)
        heads = (weights @ value).transpose(1, 0, 2).reshape(len(pieces), SIZE)
        y = _normalised(layer.attention_norm, _added(layer.attended, heads) + x)
        x = _normalised(layer.output_norm, _added(layer.outer, _gelu(_added(layer.inner, y))) + y)
    return x


def _added(dense: Dense, x: FloatRows) -> FloatRows:
    import numpy as np

    product: FloatRows = (x @ dense.quantised.astype(np.float32)) * dense.scale + dense.bias
    return product


def _normalised(norm: Norm, x: FloatRows) -> FloatRows:
    import numpy as np

    centred = x - x.mean(axis=1, keepdims=True)
    scale = np.sqrt((centred * centred).mean(axis=1, keepdims=True) + np.float32(_EPSILON))
    rows: FloatRows = centred / scale * norm.weight + norm.bias
    return rows


# Abramowitz and Stegun, 7.1.26: the error function to 1.5e-7, which is float32's own noise.
_ERF_P: Final = 0.3275911
_ERF: Final = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)


def _gelu(x: NDArray[Any]) -> FloatRows:
    """Return x times the share of a normal distribution that lies below it."""
    import numpy as np

    scaled = np.abs(x) * np.float32(np.sqrt(0.5))
    t = 1 / (1 + np.float32(_ERF_P) * scaled)
    series = np.zeros_like(t)
    for coefficient in _ERF:
        series = (series + np.float32(coefficient)) * t
    above = 0.5 * series * np.exp(-scaled * scaled)  # what lies beyond |x|
    rows: FloatRows = x * np.where(x < 0, above, 1 - above)
    return rows
