"""Worker versioning as Temporal's worker controller sets it up: by two variables in the environment of a worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.worker import WorkerDeploymentConfig

from durable_memory.memory.errors import MemoryInvalid

_NAME: Final = "TEMPORAL_DEPLOYMENT_NAME"
_BUILD_ID: Final = "TEMPORAL_WORKER_BUILD_ID"


def deployment_of(environment: Mapping[str, str]) -> WorkerDeploymentConfig | None:
    """Returns the version that a worker belongs to; None if neither variable is set, for a worker without versions.

    Raises MemoryInvalid if only one of them is.
    """
    name, build_id = environment.get(_NAME), environment.get(_BUILD_ID)
    if not name and not build_id:
        return None
    if not name or not build_id:
        given, missing = (_NAME, _BUILD_ID) if name else (_BUILD_ID, _NAME)
        raise MemoryInvalid(
            f"{missing}: is not set, but {given} is; a versioned worker needs both, one without versions neither"
        )
    return WorkerDeploymentConfig(
        version=WorkerDeploymentVersion(name, build_id),
        use_worker_versioning=True,
        # A pinned flusher or janitor would keep its old workers alive; gone, they swallow the wake-ups of a memory.
        # It stands here, not on the workflows: the server refuses it from workers without versions.
        default_versioning_behavior=VersioningBehavior.AUTO_UPGRADE,
    )
