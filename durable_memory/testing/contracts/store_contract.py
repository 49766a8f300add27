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

from durable_memory.testing.contracts.access import AccessContract
from durable_memory.testing.contracts.answering import AnsweringContract
from durable_memory.testing.contracts.appending import AppendingContract
from durable_memory.testing.contracts.backups import BackupContract
from durable_memory.testing.contracts.clearing import ClearingContract
from durable_memory.testing.contracts.deleting import DeletingContract
from durable_memory.testing.contracts.dropping import DroppingContract
from durable_memory.testing.contracts.erasing import ErasingContract
from durable_memory.testing.contracts.eviction import EvictionContract
from durable_memory.testing.contracts.fleet import FleetContract
from durable_memory.testing.contracts.flush_committing import FlushCommitContract
from durable_memory.testing.contracts.flush_leasing import FlushLeaseContract
from durable_memory.testing.contracts.flush_planning import FlushPlanningContract
from durable_memory.testing.contracts.flush_selecting import FlushSelectionContract
from durable_memory.testing.contracts.groups import GroupsContract
from durable_memory.testing.contracts.index import IndexContract
from durable_memory.testing.contracts.key_checks import KeyChecksContract
from durable_memory.testing.contracts.lowering import LoweringContract
from durable_memory.testing.contracts.operations import OperationsContract
from durable_memory.testing.contracts.owners import OwnersContract
from durable_memory.testing.contracts.paging import PagingContract
from durable_memory.testing.contracts.pinning import PinningContract
from durable_memory.testing.contracts.policies import EveryPolicyContract, PoliciesContract
from durable_memory.testing.contracts.reading import ReadingContract
from durable_memory.testing.contracts.results import ResultsContract
from durable_memory.testing.contracts.scanning import ScanningContract
from durable_memory.testing.contracts.sections import SectionsContract
from durable_memory.testing.contracts.shares import SharesContract
from durable_memory.testing.contracts.spending import SpendingContract
from durable_memory.testing.contracts.starting import StartsContract
from durable_memory.testing.contracts.trying import TryingContract
from durable_memory.testing.contracts.writing import WritingContract


class StoreContract(
    AnsweringContract,
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
    KeyChecksContract,
):
    """All parts of the suite in one class; a part can be run alone by its own name."""
