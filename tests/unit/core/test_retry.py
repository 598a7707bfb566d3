from __future__ import annotations

import pytest

from hexad.core.retry import TryAgain, retry
from hexad.errors import Conflict


class _Attempts:
    """Fails so many times, then gives its number."""

    def __init__(self, failures: int, error: Exception) -> None:
        self.failures, self.error, self.count = failures, error, 0

    def __call__(self) -> int:
        self.count += 1
        if self.count <= self.failures:
            raise self.error
        return self.count


def test_the_first_attempt_that_succeeds_is_the_last():
    attempt = _Attempts(2, TryAgain())

    assert retry(attempt, times=5) == 3
    assert attempt.count == 3


def test_an_attempt_may_give_none():
    assert retry(lambda: None, times=2, failure=lambda: Conflict("never")) is None


def test_when_none_succeeds_the_failure_is_raised_and_says_nothing_of_the_attempts():
    attempt = _Attempts(9, TryAgain())

    with pytest.raises(Conflict, match="too fast") as caught:
        retry(attempt, times=3, failure=lambda: Conflict("too fast"))

    assert attempt.count == 3
    assert caught.value.__context__ is None


def test_without_a_failure_the_last_error_is_raised():
    error = KeyError("here")

    with pytest.raises(KeyError) as caught:
        retry(_Attempts(9, error), times=3, on=KeyError)

    assert caught.value is error


def test_what_is_not_waited_for_is_raised_at_once():
    attempt = _Attempts(1, ValueError("a bug"))

    with pytest.raises(ValueError, match="a bug"):
        retry(attempt, times=3, failure=lambda: Conflict("too fast"))

    assert attempt.count == 1
