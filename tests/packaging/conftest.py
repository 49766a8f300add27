"""The distribution, built from a copy of what git knows, and installed where the checkout cannot be seen."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
AT_ROOT = ("memory", "activities", "workflows")
"""Folders that stand at the root and are installed inside the package."""


@pytest.fixture(scope="session")
def tracked() -> tuple[str, ...]:
    """Every file that is in git, or would be at the next commit."""
    git = ["git", "-c", "safe.directory=*"]  # a CI may run as another user than the one who cloned
    command = [*git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True)
    names = sorted({name for name in listed.stdout.split("\0") if name})
    return tuple(name for name in names if (CHECKOUT / name).is_symlink() or (CHECKOUT / name).is_file())


@pytest.fixture(scope="session")
def shipped(tracked: tuple[str, ...]) -> dict[str, str]:
    """The files of the product: path in the checkout -> path in an installation."""
    names = {name: f"durable_memory/{name}" if name.split("/")[0] in AT_ROOT else name for name in tracked}
    return {
        name: installed
        for name, installed in names.items()
        if installed.startswith(("durable_memory/", "durable_memory_command.py")) and not (CHECKOUT / name).is_symlink()
    }


@pytest.fixture(scope="session")
def distributions(tracked: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, and the wheel made from it. Built from a copy: old build folders would hide what is missing."""
    source = tmp_path_factory.mktemp("source")
    for name in tracked:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(CHECKOUT / name, source / name, follow_symlinks=False)
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(source)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return out


@pytest.fixture(scope="session")
def wheel(distributions: Path) -> Path:
    (wheel,) = distributions.glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment that holds the wheel; the libraries come from this one, without a network."""
    environment = tmp_path_factory.mktemp("installed") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*install, str(wheel)], check=True)
    # A plain path: pth files in there are not read, so the editable install of the checkout stays unseen.
    (site,) = environment.glob("lib/python*/site-packages")
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python
