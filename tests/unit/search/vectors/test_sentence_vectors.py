from __future__ import annotations

import numpy as np
import pytest

from hexad.search.vectors.table import half_bytes, of_half_bytes


@pytest.mark.parametrize("dimensions", [1, 2, 7, 384])
def test_half_bytes_keep_directions(dimensions: int) -> None:
    rows = np.random.default_rng(1).standard_normal((5, dimensions)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)

    data = half_bytes(list(rows))
    again = of_half_bytes(data, dimensions=dimensions)

    assert 5 * ((dimensions + 1) // 2) == len(data)
    assert np.linalg.norm(again, axis=1) == pytest.approx(np.ones(5))
    assert (np.einsum("ij,ij->i", again, rows) > 0.97).all()


def test_nothing_is_no_bytes_and_what_points_nowhere_is_near_nothing() -> None:
    assert b"" == half_bytes([])
    assert (0, 4) == of_half_bytes(b"", dimensions=4).shape
    assert [0.0] * 4 == of_half_bytes(half_bytes([np.zeros(4, np.float32)]), dimensions=4)[0].tolist()
