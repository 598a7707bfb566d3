"""Write `plugins/claude-code` anew, from what `hexad install` writes: `python plugins/write.py`."""

from __future__ import annotations

from pathlib import Path

from hexad.interfaces.assistants.contents import plugin_files

FOLDER = Path(__file__).parent / "claude-code"

if __name__ == "__main__":
    for name, text in plugin_files().items():
        file = FOLDER / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
