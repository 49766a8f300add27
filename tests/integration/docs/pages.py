"""The files that stand in the pages of the documentation: blocks whose first line is the name of one."""

from __future__ import annotations

import re
from pathlib import Path

CHECKOUT = Path(__file__).parents[3]
_FILE = re.compile(r"^```(?:python|yaml)\n(# ([\w/]+\.(?:py|yaml))\n.*?)^```$", re.DOTALL | re.MULTILINE)


def files_of(page: str) -> dict[str, str]:
    """Returns the files of a page of the checkout by name, in their order."""
    return {name: text for text, name in _FILE.findall((CHECKOUT / page).read_text())}
