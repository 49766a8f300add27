"""What models put around a summary is no part of it: their thinking, a code fence, a line that announces it."""

from __future__ import annotations

import time

import pytest

from durable_memory.memory.errors import MemorySummaryRejected
from durable_memory.memory.flushing.llm.summarizer import LlmSummarizer
from durable_memory.memory.flushing.llm.wrapping import unwrapped
from durable_memory.memory.types import Message
from tests.integration.llm.asking import request
from tests.integration.llm.endpoint import SUMMARY, Endpoint, Says


@pytest.mark.parametrize(
    "answer",
    [
        f"<think>Anna and Bob argue about a parcel.</think>\n\n{SUMMARY}",
        f"<think>\nFirst.\n</think>\n<think>\nSecond.\n</think>\n{SUMMARY}",
        f"\n<Thinking budget='low'>Anna objects.</Thinking><reasoning>Bob, rather.</reasoning> {SUMMARY}",
        f"[THINK]Anna and Bob.[/THINK]{SUMMARY}",
        f"<|think|>Anna and Bob.<|/think|>\n{SUMMARY}",
        f"<seed:think>Anna and Bob.</seed:think>{SUMMARY}",
        f"\u25c1think\u25b7Anna and Bob.\u25c1/think\u25b7{SUMMARY}",
        f"The parcel left, so I begin with Anna.</think>{SUMMARY}",
        f"The parcel left, so I begin with Anna.\n</think>\n\n{SUMMARY}",
        f"<think>A tag in a <think>tag</think> of mine.</think>{SUMMARY}",
        f"<thinking>one\n<reflection>a</reflection>\ntwo\n<reflection>b</reflection>\n</thinking>\n<output>{SUMMARY}</output>",
        f"<think>First. <reflection>a</reflection> then <analysis>b</analysis> done.\n</think>\n{SUMMARY}",
        f"<Thinking>one <reflection>a</reflection> two </thinking> {SUMMARY}",
        f"[THINK]one <think>a</think> two[/THINK]{SUMMARY}",
        f"```\n{SUMMARY}\n```",
        f"```markdown\n{SUMMARY}\n```\n",
        f"<summary>\n{SUMMARY}\n</summary>",
        f"Here is the summary:\n\n{SUMMARY}",
        f"Sure! Here\u2019s a concise summary of the conversation:\n{SUMMARY}",
        f"**Summary:** {SUMMARY}",
        f"## Summary\n\n{SUMMARY}",
        f"Summary of the record above, in at most 48 words: {SUMMARY}",
        f"Zusammenfassung:\n{SUMMARY}",
        f"Here is the shortened summary:\n{SUMMARY}",
        f"Here is the final summary: {SUMMARY}",
        f"Here is my summary:\n{SUMMARY}",
        f"Absolutely! Here's the summary:\n{SUMMARY}",
        f"According to the record, here is the summary:\n{SUMMARY}",
        f"<think>Short.</think>\nHere is the summary:\n```text\nSummary: {SUMMARY}\n```",
        f"{SUMMARY}<|im_end|>",
        f"{SUMMARY}\n<end_of_turn>\n<start_of_turn>user\nAnd now a poem about it.",
        f"{SUMMARY}</s>",
        f"{SUMMARY}\n\nLet me know if you would like more detail!",
        f"{SUMMARY} I hope this summary helps.",
        f"{SUMMARY}\n\n**Would you like me to shorten it?**",
        f"{SUMMARY} If you need anything else, please let me know.",
        f"**Summary:** {SUMMARY}\n\nLet me know if anything is missing.<|eot_id|>",
        f"```\n{SUMMARY}\n```\nLet me know if you need more detail!",
        f"Here is the summary:\n```markdown\n{SUMMARY}\n```\n\nI hope this helps!",
        f"<summary>{SUMMARY}</summary>\n\nWould you like me to shorten it?",
        f"Based on the record above, here is a summary:\n\n{SUMMARY}",
        f"{SUMMARY}\n\n(Word count: 11)",
        f"{SUMMARY}\n\nNote: I have omitted greetings.",
        f"<|channel|>analysis<|message|>Parcels.<|end|><|start|>assistant<|channel|>final<|message|>{SUMMARY}<|return|>",
    ],
)
async def test_what_stands_around_a_summary_is_not_stored(
    service: Endpoint, summarizer: LlmSummarizer, answer: str
) -> None:
    service.default = Says(answer)
    assert await summarizer.summarize(request()) == SUMMARY


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (f"<think>Anna wrote that {SUMMARY}", "cut before its end"),
        (f"<reasoning>One.</reasoning><thinking>{SUMMARY}", "cut before its end"),
        (f"<thinking>One. <reflection>Two.</reflection> {SUMMARY}", "cut before its end"),
        ("<think>The parcel left the depot for Ghent at noon.</think>", "empty text"),
        ("<think>Anna.</think>\nI'm sorry, but I can't help with that.", "declined"),
        ("```\n\n```", "empty text"),
        ("Summary:", "next to nothing|repeated what it was told"),
    ],
)
async def test_thinking_that_has_no_end_or_no_summary_behind_it_is_rejected(
    service: Endpoint, summarizer: LlmSummarizer, answer: str, words: str
) -> None:
    service.default = Says(answer)
    with pytest.raises(MemorySummaryRejected, match=words):
        await summarizer.summarize(request())


@pytest.mark.parametrize(
    "summary",
    [
        "The user asked how <think> and </think> are closed, which the assistant did not know.",
        "Anna: <reasoning> is the tag that the user wants, and ``` begins a fence.",
        "Summary of the quarter: 4711 parcels left the depot, said Anna.",
        "```python\nparcel = 4711\n``` was what Anna sent, and ```\nnoon\n``` what Bob did.",
    ],
)
async def test_a_summary_about_such_marks_keeps_them(
    service: Endpoint, summarizer: LlmSummarizer, summary: str
) -> None:
    talk = [
        Message.user("Anna asks how tags are closed, about 4711 parcels and a fence."),
        Message.assistant("Noon, says Bob."),
    ]
    service.default = Says(summary)
    assert await summarizer.summarize(request(*talk)) == summary


TAGS = (
    Message.user("How do I take <think> off the answers of Qwen? I want what is behind </think>."),
    Message.assistant("With re.sub, and the same way for [THINK] of Magistral."),
)


@pytest.mark.parametrize(
    "summary",
    [
        "<think> of Qwen is taken off by re.sub, as is [THINK] of Magistral.",
        "[THINK] and <think> are taken off by re.sub.",
        "<think>\u2026</think> of Qwen is taken off by re.sub, as is [THINK] of Magistral.",
        "The user wants what is behind </think> of Qwen; re.sub finds it, and [/THINK] too.",
        "To find what is behind </think>, re.sub is used.",
    ],
)
async def test_a_summary_of_a_conversation_about_tags_stays_whole(
    service: Endpoint, summarizer: LlmSummarizer, summary: str
) -> None:
    service.default = Says(summary)
    assert await summarizer.summarize(request(*TAGS)) == summary
    for thinking in (
        "<think>\nQwen, Magistral.\n</think>\n\n",
        "<think>\n<reflection>\nQwen.\n</reflection>\nMagistral.\n</think>\n",
        "Qwen and Magistral, then.\n</think>\n",
    ):
        service.default = Says(thinking + summary)
        assert await summarizer.summarize(request(*TAGS)) == summary


async def test_the_end_of_thinking_within_a_sentence_cuts_nothing_off(
    service: Endpoint, summarizer: LlmSummarizer
) -> None:
    summary = "Anna reads the answer of parcel 4 from </think> on, said the depot."
    service.default = Says(summary)
    assert await summarizer.summarize(request()) == summary


@pytest.mark.parametrize(
    "summary",
    [
        "Anna asked Bob about parcel 4711. Let me know, she wrote, when it reaches Ghent.",
        "Anna closed her mail of noon to Ghent so. Let me know when parcel 4711 arrives.",
        "The depot prints <|im_end|> behind each of 4711 parcels, said Anna to Bob.",
    ],
)
async def test_what_the_conversation_says_itself_is_no_trailer(
    service: Endpoint, summarizer: LlmSummarizer, summary: str
) -> None:
    talk = [
        Message.user("Anna wrote to Bob of parcel 4711, noon, Ghent: Let me know when it arrives. Why <|im_end|>?"),
        Message.assistant("The depot prints it behind each parcel."),
    ]
    service.default = Says(summary)
    assert await summarizer.summarize(request(*talk)) == summary


@pytest.mark.parametrize("mark", ["'", "\u2019"])
@pytest.mark.parametrize("told", ["'", "\u2019"])
async def test_an_offer_of_the_conversation_stays_whatever_apostrophe_it_has(
    service: Endpoint, summarizer: LlmSummarizer, told: str, mark: str
) -> None:
    offer = "If you{}d like a refund of 20 euros, let me know by Friday."
    summary = f"Anna wrote of parcel 4711. {offer.format(mark)}"
    service.default = Says(summary)
    assert await summarizer.summarize(request(Message.user(offer.format(told)))) == summary


async def test_nothing_but_a_trailer_is_no_summary(service: Endpoint, summarizer: LlmSummarizer) -> None:
    for answer in ("<|im_end|>", "Let me know if you need anything else!"):
        service.default = Says(answer)
        with pytest.raises(MemorySummaryRejected, match="empty text"):
            await summarizer.summarize(request())


@pytest.mark.parametrize("text", ["Let me know ", "<|im_end|", ". I hope this ", "if you need ", "\n\n**"])
def test_a_long_answer_is_searched_for_a_trailer_in_linear_time(text: str) -> None:
    answer = text * (1_000_000 // len(text))
    began = time.thread_time()
    unwrapped(answer, "")
    assert time.thread_time() - began < 1


@pytest.mark.parametrize("block", ["<think></think>", "<think>a</think>\n", "<think>", "</think>", "</think> <think>"])
def test_an_answer_full_of_tags_is_read_in_linear_time(block: str) -> None:
    answer = block * (1_000_000 // len(block))
    began = time.thread_time()
    unwrapped(answer, "")
    assert time.thread_time() - began < 1
