"""Gate."""

from functools import cache


class Gate(dict):
    """A gate."""

    def open(self, *, at: int = 1) -> str:
        return f"{at!r:>3}"

    @staticmethod
    @cache
    def key(a, /, *b, **c):
        return lambda: (a, b, c)


async def main():
    pass
