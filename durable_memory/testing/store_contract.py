"""The conformance suite of the store port: every promise, for any driver.

Give a fixture `backend` and collect one class:

    class TestMyStore(StoreContract):
        @pytest.fixture(scope="session")
        async def backend(self) -> AsyncIterator[Backend]:
            backend = await connect_my_store()
            yield backend
            await backend.store.close()

The tests are coroutines: run them with pytest-asyncio in auto mode. They use memories and projects of their own, so a
server may be shared. They take real time where a lifetime has to end, so the store must run on the system's clock.
"""

from __future__ import annotations

from durable_memory.testing.access import AccessContract
from durable_memory.testing.appending import AppendingContract
from durable_memory.testing.backups import BackupContract
from durable_memory.testing.clearing import ClearingContract
from durable_memory.testing.deleting import DeletingContract
from durable_memory.testing.dropping import DroppingContract
from durable_memory.testing.erasing import ErasingContract
from durable_memory.testing.eviction import EvictionContract
from durable_memory.testing.fleet import FleetContract
from durable_memory.testing.flush_committing import FlushCommitContract
from durable_memory.testing.flush_leasing import FlushLeaseContract
from durable_memory.testing.flush_planning import FlushPlanningContract
from durable_memory.testing.flush_selecting import FlushSelectionContract
from durable_memory.testing.groups import GroupsContract
from durable_memory.testing.index import IndexContract
from durable_memory.testing.lowering import LoweringContract
from durable_memory.testing.operations import OperationsContract
from durable_memory.testing.owners import OwnersContract
from durable_memory.testing.paging import PagingContract
from durable_memory.testing.pinning import PinningContract
from durable_memory.testing.policies import EveryPolicyContract, PoliciesContract
from durable_memory.testing.reading import ReadingContract
from durable_memory.testing.results import ResultsContract
from durable_memory.testing.scanning import ScanningContract
from durable_memory.testing.sections import SectionsContract
from durable_memory.testing.shares import SharesContract
from durable_memory.testing.spending import SpendingContract
from durable_memory.testing.starting import StartsContract
from durable_memory.testing.trying import TryingContract
from durable_memory.testing.writing import WritingContract


class StoreContract(
    AppendingContract,
    TryingContract,
    ReadingContract,
    ScanningContract,
    GroupsContract,
    ResultsContract,
    EvictionContract,
    SharesContract,
    LoweringContract,
    SectionsContract,
    EveryPolicyContract,
    PoliciesContract,
    WritingContract,
    PagingContract,
    PinningContract,
    DeletingContract,
    ClearingContract,
    BackupContract,
    ErasingContract,
    FlushSelectionContract,
    FlushPlanningContract,
    FlushLeaseContract,
    FlushCommitContract,
    DroppingContract,
    OperationsContract,
    IndexContract,
    OwnersContract,
    AccessContract,
    SpendingContract,
    StartsContract,
    FleetContract,
):
    """All parts of the suite in one class; a part can be run alone by its own name."""
