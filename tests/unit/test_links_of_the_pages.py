"""Every link of the documentation leads to a file and a heading that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
PAGES = sorted(
    [*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").glob("*.md"), *(CHECKOUT / "examples").glob("*/README.md")]
)
CODE = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """The headings of a page, as a link names them."""
    headings = re.findall(r"^#+ (.*)$", CODE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    links = [link.partition("#") for link in LINK.findall(CODE.sub("", page.read_text())) if "://" not in link]
    files = [(page.parent / name if name else page, anchor) for name, _, anchor in links]
    assert [str(file) for file, _ in files if not file.exists()] == []
    assert [(file.name, anchor) for file, anchor in files if anchor and anchor not in anchors(file)] == []


def test_the_readme_names_every_page() -> None:
    named = set(re.findall(r"\]\(docs/([\w-]+\.md)\)", (CHECKOUT / "README.md").read_text()))
    assert named == {page.name for page in (CHECKOUT / "docs").glob("*.md")}
