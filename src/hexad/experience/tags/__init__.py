"""Tags and concepts: packs, rules that tag by themselves, and which concepts may be seen."""
