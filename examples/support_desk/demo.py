"""Plays a support case from start to end: two agents, one memory, a worker killed in the middle of a flush.

`make demo`. Starts a Temporal dev server and a Valkey, runs the desk's worker in a process of its own, and ends by
itself; with --stay it keeps the servers until Ctrl+C, to look around in Temporal's pages.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from desk_agents import TASK_QUEUE, Case, Stretch, TriageWorkflow
from screen import Screen
from script import Conversation, load_conversation
from temporalio.client import Client

from durable_memory import Memory, MemoryClient
from durable_memory.dev import DevPlaces, DevServers, dev_servers
from durable_memory.exit import run_and_leave

HERE = Path(__file__).parent
KILL_AT_FLUSH = 2
LOOK_SECONDS = 0.05
PATIENCE_SECONDS = 240
CASE_ID = "case-20873"


class Desk:
    """The desk's worker process: started, watched, killed, replaced."""

    def __init__(self, servers: DevServers) -> None:
        self._environment = {
            **os.environ,
            "REDIS_URL": servers.redis_url,
            "TEMPORAL_ADDRESS": servers.temporal_address,
        }
        self._process: asyncio.subprocess.Process | None = None
        self._reading: set[asyncio.Task[None]] = set()
        self.events: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def start(self) -> int:
        """Starts a worker and returns its process id."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, str(HERE / "desk_worker.py"), env=self._environment, stdout=asyncio.subprocess.PIPE
        )
        task = asyncio.create_task(self._read(self._process))
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)
        return self._process.pid

    async def kill(self) -> None:
        """Kills it with SIGKILL: no code of it runs any more."""
        assert self._process is not None
        self._process.kill()
        await self._process.wait()

    async def stop(self) -> int:
        """Drains it with SIGTERM and returns its exit code."""
        assert self._process is not None
        with suppress(ProcessLookupError):
            self._process.terminate()
        return await self._process.wait()

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        async for line in process.stdout:
            # Whatever else writes there (Temporal's core logs to standard output) is not ours to read.
            if line.startswith(b"{"):
                with suppress(ValueError):
                    self.events.put_nowait(json.loads(line))


class Play:
    """One run of the case, with what it saw."""

    def __init__(self, conversation: Conversation, memory: Memory, desk: Desk, screen: Screen) -> None:
        self._conversation = conversation
        self._memory = memory
        self._desk = desk
        self._screen = screen
        self.most_tokens = 0
        self.flushes = 0
        self.killed = False
        self.facts: dict[str, bool] = {}

    async def watch_turns(self) -> None:
        """Shows turns as the worker tells of them, until the last: where one takes over, or a fact is needed."""
        headings = {session.turns[0].id: session.title for session in self._conversation.sessions}
        takes_over = {stretch[0].id for session in self._conversation.sessions for stretch in session.stretches()}
        needed = {fact.needed_in for fact in self._conversation.facts}
        last = self._conversation.turns[-1].id
        turn = ""
        while turn != last:
            event = await self._desk.events.get()
            turn = event["turn"]
            if turn in headings:
                self._screen.heading(headings[turn])
            elif turn in takes_over:
                self._screen.view(
                    f"[dim]{event['agent']} takes over and reads the shared view[/]", await self._memory.read()
                )
            if turn in takes_over | needed | {last} or event["attempt"] > 1:
                self._screen.turn(event, await self._memory.stats())
            self.facts.update(event["facts"])

    async def watch_memory(self) -> None:
        """Looks at the memory all the time: the budget, the flushes, and the moment to kill the worker."""
        seen = ""
        while True:
            stats = await self._memory.stats()
            self.most_tokens = max(self.most_tokens, sum(stats.tokens.values()))
            if stats.flushing_owner and self.flushes + 1 == KILL_AT_FLUSH and not self.killed:
                self.killed = True
                await self._replace_worker()
            view = await self._memory.read(sections=["long_term"])
            summary = view.messages[0].id or "" if view.messages else ""
            if summary != seen:
                seen = summary
                self.flushes += 1
                self._screen.summary(view)
            await asyncio.sleep(LOOK_SECONDS)

    async def _replace_worker(self) -> None:
        await self._desk.kill()
        waiting = (await self._memory.stats()).omitted.messages
        self._screen.alarm(
            "A flush is under way. The worker was killed with SIGKILL just now, and another one started. "
            f"Nothing was removed yet; {waiting} evicted messages wait. "
            "Temporal misses the heartbeats in up to 10 seconds and has the new worker finish the same batch."
        )
        await self._desk.start()

    async def settle(self) -> None:
        """Waits until no flush is due or under way."""
        stats = await self._memory.stats()
        while stats.flush_due or stats.flushing_owner:
            await asyncio.sleep(LOOK_SECONDS)
            stats = await self._memory.stats()

    async def results(self) -> list[tuple[str, str, bool]]:
        """Counts where every message of the case is now."""
        view = await self._memory.read()
        stats = await self._memory.stats()
        summaries = [message for message in view.messages if message.section == "long_term"]
        covered = sum(int(str(message.metadata["covers_messages"])) for message in summaries)
        live, waiting, said = (
            len(view.messages) - len(summaries),
            stats.omitted.messages,
            len(self._conversation.messages),
        )
        budget = stats.max_tokens or 0
        return [
            (
                "every message once: in the view, waiting, or in a summary",
                f"{live} + {waiting} + {covered} = {live + waiting + covered} of {said}",
                live + waiting + covered == said,
            ),
            (
                "the view never exceeds its budget",
                f"at most {self.most_tokens:,} of {budget:,} tokens",
                self.most_tokens <= budget,
            ),
            ("old messages are summarised in the background", f"{self.flushes} flushes", self.flushes > 1),
            ("a killed worker loses nothing", "killed in a flush, replaced", self.killed),
        ]


async def history_bytes(client: Client, case: Case) -> int:
    """Measures what the case has left so far in the histories of its workflows."""
    billing = (f"{CASE_ID}/billing-{number}" for number, one in enumerate(case.stretches) if one.agent == "billing")
    histories = [await client.get_workflow_handle(name).fetch_history() for name in (CASE_ID, *billing)]
    return sum(event.ByteSize() for history in histories for event in history.events)


def transcript_bytes(conversation: Conversation) -> int:
    """Counts what the turns' inputs alone would be if each were given the conversation so far, as workflows do it."""
    said, size = [conversation.system], 0
    for turn in conversation.turns:
        prompt = [message.to_dict() for message in (*said, turn.incoming)]
        size += len(json.dumps(prompt, ensure_ascii=False).encode())
        said += turn.messages
    return size


@asynccontextmanager
async def watching(play: Play) -> AsyncIterator[None]:
    """Watches the memory while the block runs; what goes wrong there ends the demo."""
    async with asyncio.TaskGroup() as tasks:
        watch = tasks.create_task(play.watch_memory())
        yield
        watch.cancel()


async def play_case(servers: DevServers, screen: Screen) -> bool:
    """Plays the case and returns whether everything was as promised."""
    conversation = load_conversation()
    screen.say(f" {len(conversation.messages)} messages, {len(conversation.turns)} turns; budget 3,500 tokens.")
    screen.say(" No model is called: what the agents answer is a script, conversation.yaml.")
    screen.say(" Shown are turns where an agent takes over or needs a fact that was said early.")
    if servers.temporal_ui:
        screen.say(f" Temporal's pages: {servers.temporal_ui}")
    desk = Desk(servers)
    screen.say(f" Worker started, process {await desk.start()}.")
    client = await Client.connect(servers.temporal_address)
    stretches = [
        Stretch(stretch[0].agent, [turn.id for turn in stretch])
        for session in conversation.sessions
        for stretch in session.stretches()
    ]
    case = Case(conversation.customer_id, conversation.system.text, stretches)
    async with await MemoryClient.connect(
        servers.redis_url, memories=[HERE / "memories"], project="support-desk"
    ) as memories:
        memory = memories.memory("customer-support", f"customer:{conversation.customer_id}")
        play = Play(conversation, memory, desk, screen)
        handle = await client.start_workflow(TriageWorkflow.run, case, id=CASE_ID, task_queue=TASK_QUEUE)
        async with watching(play):
            await play.watch_turns()
            await play.settle()
        screen.heading("The case is solved")
        rows = await play.results()
        events = (await handle.describe()).history_length
        written, passed = await history_bytes(client, case), transcript_bytes(conversation)
        small = events < 20 * len(conversation.turns) and written < passed
        found = (
            f"{events} events in triage; {written // 1000:,} kB in all workflows of the case "
            f"(the transcript in each turn's input: {passed // 1000:,} kB)"
        )
        await handle.signal(TriageWorkflow.close_case)
        await handle.result()
        gone = not (await memory.stats()).exists
        rows.append(("a workflow's end settles its memory", "cleared, as declared" if gone else "still there", gone))
        rows.append(("the history stays small", found, small))
    exit_code = await desk.stop()
    rows.append(("SIGTERM drains the worker", f"exit code {exit_code}", exit_code == 0))
    screen.results(rows)
    # No promise: what is known in a turn depends on which flush has just ended, and an extract keeps a part only.
    known = sum(play.facts.values())
    screen.say(
        f" Of {len(play.facts)} facts said early, {known} were in the view when they were needed: the free "
        "summariser keeps a part of what was said. A language model keeps more (flushing.summarizer)."
    )
    return all(kept for _, _, kept in rows)


async def main(*, stay: bool) -> int:
    """Runs the demo; the exit code says whether every promise was kept."""
    screen = Screen()
    screen.heading("Durable Memory: a support case, two agents, one memory")
    with tempfile.TemporaryDirectory(prefix="durable-memory-demo-") as folder:
        async with dev_servers(DevPlaces(Path(folder))) as servers:
            try:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    kept = await play_case(servers, screen)
            except TimeoutError:
                screen.say(f" The case did not end within {PATIENCE_SECONDS} seconds; something above says why.")
                return 1
            if stay:
                screen.say(f" Temporal's pages stay at {servers.temporal_ui} until Ctrl+C.")
                with suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()
    return 0 if kept else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stay", action="store_true", help="keep the servers and Temporal's pages until Ctrl+C")
    run_and_leave(main(stay=parser.parse_args().stay))
