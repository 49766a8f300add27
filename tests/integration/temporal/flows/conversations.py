"""All workflows of most tests. Their modules are small: the sandbox imports one again for each of its workflows."""

from __future__ import annotations

from tests.integration.temporal.flows.by_name import STRANGE
from tests.integration.temporal.flows.calls import CALLS
from tests.integration.temporal.flows.talks import TALKS

CONVERSATIONS: tuple[type, ...] = (*TALKS, *CALLS, *STRANGE)
