"""Whether what a model answered may stand for the messages: whole, a text of its own, and about them."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from typing import Final

import regex

from durable_memory.memory.errors import MESSAGES_STAY, MemorySummaryRejected
from durable_memory.memory.flushing.json_lines import LINE_BEGINS, texts_told
from durable_memory.memory.flushing.llm.failures import could_not_summarise, reports_failure
from durable_memory.memory.flushing.llm.grounding import is_grounded, retells
from durable_memory.memory.flushing.llm.model import Answer, Question
from durable_memory.memory.flushing.llm.prompt import OUR_WORDS
from durable_memory.memory.flushing.llm.refusals import is_refusal
from durable_memory.memory.flushing.llm.wrapping import unwrapped
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.types import clean_text

_LONGEST_JUDGED: Final = 600
"""In characters. A longer text that shares nothing with the conversation may be in another language."""

_FLOOR: Final = 1 / 50
_FLOOR_TOKENS: Final = 8
"""A summary has at least this many tokens, `OK.` says nothing, and a fiftieth of those of what it stands for."""

_MOST_OF_A_MESSAGE: Final = 100
"""Tokens of one message that count for this fiftieth: one may be a log or a file, of which a sentence remains."""

_NOTHING: Final = regex.compile(r"\W*(?:n ?/ ?a|none|null|no summary(?: \w+){0,2})\W*", regex.IGNORECASE)
"""What models write where they have nothing to say."""

_SAME_WORDS: Final = 10
"""How often each word comes in a text that goes in circles, on average: in one of 2,000 words of sense it is about four
times."""

_SAME_SENTENCE: Final = 10
"""How often one and the same sentence comes in a text that went in circles at last, or has no spaces between words."""

_SENTENCE: Final = regex.compile(r"(?:[^.!?\n\u3002\uff01\uff1f\u061f\u0964]|[.!?](?=\S)){6,}")
"""A dot inside of an address or a number ends none."""

_SHORTEST_RULE: Final = 40
"""In characters. A shorter sentence of the instructions may be one of a summary."""


def summary_in(answer: Answer, question: Question) -> str:
    """Returns the text that an answer holds, without what models put around it.

    Raises MemorySummaryRejected if it is empty, cut, declined by the provider, or a repetition of the question or of
    itself.
    """
    text = unwrapped(clean_text(answer.text), question.text)
    if answer.ending == "refused":
        raise _rejected("the model declined to write the summary")
    if answer.ending == "cut" or text is None:
        raise _rejected("the model's answer was cut before its end")
    if not any(map(str.isalnum, text)) or _NOTHING.fullmatch(text):
        raise _rejected("the model returned an empty text")
    if _repeats(text, question):
        raise _rejected("the model repeated what it was told")
    if _goes_in_circles(text):
        raise _rejected("the model's answer repeats itself")
    return text


async def fewest_tokens(request: SummaryRequest) -> float:
    """Returns how many tokens a summary has at least. Counts all messages, so ask once a request."""
    said = await request.counter.count_texts([message.text for message in request.messages])
    total = sum(min(count.tokens, _MOST_OF_A_MESSAGE) for count in said)
    return min(total / 3, max(_FLOOR_TOKENS, total * _FLOOR), request.max_tokens / 2)


async def check_substance(text: str, request: SummaryRequest, fewest: float) -> None:
    """Raises MemorySummaryRejected for what says next to nothing, or nothing of the messages.

    Also for a refusal, and for a report of the model's own failure.
    fewest: see fewest_tokens.
    """
    if await tokens_of(text, request) < fewest:
        raise _rejected("the model's summary says next to nothing")
    told = partial(texts_told, request.messages)
    if await asyncio.to_thread(could_not_summarise, text, told()):
        raise _rejected("the model says that it could not summarise")
    if is_refusal(text) and not await asyncio.to_thread(retells, text, told()):
        raise _rejected("the model declined to write the summary")
    if await asyncio.to_thread(reports_failure, text, told()) and not await asyncio.to_thread(retells, text, told()):
        raise _rejected("the model reported an error in place of a summary")
    if len(text) <= _LONGEST_JUDGED and not await asyncio.to_thread(is_grounded, text, told()):
        raise _rejected("the model's answer shares no name, number or rare word with the messages")


async def tokens_of(text: str, request: SummaryRequest) -> int:
    """Returns the tokens of a bare text."""
    return (await request.counter.count_text(text)).tokens


def _repeats(text: str, question: Question) -> bool:
    """Tells whether a text has the fence, a line of the record or a rule of ours in it, or is part of its question."""
    fence, *record, last_line = question.text.split("\n")
    lines = {line.strip() for line in text.split("\n")}
    if fence in text or not lines.isdisjoint(line for line in record if line.startswith(LINE_BEGINS)):
        return True
    said, heard = _plain(text), _plain("\n".join(record))
    if any(said in _plain(told) for told in (question.instructions, last_line)):
        return True
    return any(rule in said and rule not in heard for rule in _RULES)


def _goes_in_circles(text: str) -> bool:
    """Tells whether a text has the same few words again and again, as small models write that lost their way."""
    words = text.casefold().split()
    if len(words) >= _SAME_WORDS * len(set(words)):
        return True
    sentences = Counter(map(_plain, _SENTENCE.findall(text)))
    return any(
        # Half of the text: a list has the same line for each of its things.
        times >= _SAME_SENTENCE and times * len(sentence) * 2 >= len(text)
        for sentence, times in sentences.items()
    )


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


_RULES: Final = tuple(
    rule
    for words in OUR_WORDS
    for rule in map(_plain, _SENTENCE.findall(words))
    if len(rule) >= _SHORTEST_RULE and "{" not in rule
)


def _rejected(why: str) -> MemorySummaryRejected:
    return MemorySummaryRejected(f"{why}; {MESSAGES_STAY}")
