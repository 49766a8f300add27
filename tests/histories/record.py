"""Records the histories of this release: `python -m tests.histories.record`, from the root of the checkout.

It starts servers of its own. Only the files of this release are written; those of earlier ones stay as they are, since
workflows that an earlier release started may still run.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
from pathlib import Path
from typing import Final

from durable_memory.exit import leave
from tests.histories import endings, upkeep
from tests.histories.normal import stored_text
from tests.histories.stage import stage

FOLDER: Final = Path(__file__).parent
RELEASE: Final = importlib.metadata.version("durable-memory")


async def record(folder: Path) -> None:
    """Plays every scene and writes its histories into a folder, as `<name>.<release>.json`."""
    async with stage() as running:
        for scene in (*endings.SCENES, *upkeep.SCENES):
            for name, handle in (await scene(running)).items():
                text = stored_text(await handle.fetch_history())
                (folder / f"{name}.{RELEASE}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(record(FOLDER))
    leave(0)
