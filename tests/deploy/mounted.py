"""The volumes of a pod as kubelet mounts them: files are links through one link, which it changes for all at once."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def mount(folder: Path, files: Mapping[str, str]) -> None:
    """Writes a version of the files of a volume, and puts it in the place of the one before."""
    version = folder / f"..{uuid.uuid4().hex}"
    version.mkdir(parents=True)
    for name, text in files.items():
        (version / name).write_text(text)
    link = folder / "..data_tmp"
    link.symlink_to(version.name)
    link.replace(folder / "..data")
    for name in files:
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(f"..data/{name}")


def mount_all(root: Path, objects: Mapping[str, dict[str, Any]], secret: Mapping[str, str]) -> dict[str, Path]:
    """Mounts the secrets and the declarations of a Deployment under `root`; returns where each volume is, by name."""
    pod = objects["Deployment"]["spec"]["template"]["spec"]
    places = {found["name"]: found["mountPath"] for found in pod["containers"][0]["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    items = [item for source in volumes["secrets"]["projected"]["sources"] for item in source["secret"]["items"]]
    assert volumes["memories"]["configMap"]["name"] == objects["ConfigMap"]["metadata"]["name"]
    folders = {name: root / place.lstrip("/") for name, place in places.items()}
    mount(folders["secrets"], {item["path"]: secret[item["key"]] for item in items})
    mount(folders["memories"], objects["ConfigMap"]["data"])
    return folders
