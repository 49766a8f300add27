"""How models, and what stands before them, report their own failure in place of a summary.

In English and the languages of `refusals`. That a service failed may be what the conversation was about: an answer that
retells it is none. But one that says that it could not summarise speaks of this task, unless the conversation does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import regex

from durable_memory.memory.flushing.llm.refusals import REPORTS, plain, said_shortly

_SUMMARY: Final = (
    r"(?:\b(?:summar|zusammen(?:ge)?fass|riass|обобщ|резюм|сводк)|总结|總結|摘要|要約"
    # Neither what goes on in English (resumed, resumption) nor what one applies with (her résumé).
    r"|\bresum(?!e[ds]?\b|ing\b|pt)|(?<!\b(?:her|his|their|my|your|an?) )\brésum)"
)
_NOT: Final = (
    r"(?:(?:could|can|was|were|is|are)(?:n't| not)|can't|cannot|failed|unable|impossible|not (?:able|possible))"
)
_DONE: Final = r"(?:generat|creat|produc|complet|writ|provid|made|retriev|process|load|prepar)"

_OF_IT: Final = r"(?: (?:of|for|about|from|on) [^.!?;:]{1,90}?)?"

_CANNOT_SUMMARISE: Final = (
    # The events could not be summarised. Failed to generate a summary. An error occurred while creating the summary.
    rf"\b(?:{_NOT}|errors?|problems?)\b(?: [\w-]+){{0,5}} {_SUMMARY}",
    # The summary of the events could not be generated. Summary generation failed.
    rf"{_SUMMARY}\w*{_OF_IT}(?: generation| request)? {_NOT}(?: be)?(?: {_DONE}|\W*\Z|[,.;:])",
    rf"{_SUMMARY}\w*{_OF_IT} is (?:\w+ly )?(?:unavailable|not available)\b",
    # German, French, Spanish, Portuguese, Italian, Russian
    rf"(?:\bnicht|fehler beim|fehler bei der)(?: \w+){{0,4}} {_SUMMARY}",
    rf"{_SUMMARY}ung [^.!?;:]*\b(?:konnte|kann)\b[^.!?;]* nicht\b",
    rf"(?:n'(?:a|ont|ai) pas pu|impossible de)(?: \w+){{0,3}} {_SUMMARY}|{_SUMMARY}é\b[^.!?;:]* n'a pas pu\b",
    rf"\bno (?:se )?(?:pud\w+|ha\w* podido|pued\w+)(?: \w+){{0,4}} {_SUMMARY}",
    rf"{_SUMMARY}en\b[^.!?;:]* no (?:se )?(?:pudo|ha podido|puede)\b",
    rf"\bnão (?:foi possível|pôde|pude|consegui)(?: \w+){{0,4}} {_SUMMARY}|{_SUMMARY}o\b[^.!?;:]* não (?:pôde|foi)\b",
    rf"\bnon (?:è (?:stato )?possibile|sono riuscit\w a|ho potuto)(?: \w+){{0,3}} {_SUMMARY}",
    rf"{_SUMMARY}unto\b[^.!?;:]* non (?:è stato|può)\b",
    rf"не удалось(?: \w+){{0,3}} {_SUMMARY}",
    # Chinese, Japanese
    rf"(?:无法|無法|未能)[^\u3002\uff0c]{{0,12}}{_SUMMARY}|{_SUMMARY}[^\u3002\uff0c]{{0,8}}(?:失败|失敗|无法|無法)",
    r"要約[^\u3002]{0,12}(?:できません|失敗)",
)

_TEXT: Final = (
    r"(?:requests?|records?|conversations?|transcripts?|messages?|events?|logs?|history|data|documents?|content|context"
    r"|files?|texts?|information|details?|prompt|input)\b"
)
_FAULT: Final = r"(?:error|problem|issue|exception)s?\b"
_MY_WORK: Final = r"(?:process|generat|handl|creat|access|complet|fulfil|retriev|analy[sz]|load|read)\w*"

_PHRASES: Final = (
    # I was unable to process the events. I cannot access the record of the events.
    (
        r"(?:i|we) (?:(?:can't|cannot|can not|couldn't|could not|was not able to|wasn't able to"
        rf"|(?:was|am|were|are)(?: \w+ly)? unable to) )(?:\w+ly )?{_MY_WORK} (?:the|this|that|these|those|your|any|all)"
        rf" (?:[\w-]+ ){{0,3}}{_TEXT}"
    ),
    # There was an error processing your request.
    (
        rf"{_FAULT}(?: ha[sd])?(?: occurred| happened)?(?: while| when| in| during| with)?(?: trying to)? {_MY_WORK}"
        rf"(?: of)? (?:(?:your|this|my) (?:\w+ ){{0,2}}{_TEXT}|the (?:conversation|transcript|prompt|input)\b)"
    ),
    rf"\byour (?:\w+ )?(?:request|query|prompt|message)\b[^.!?]* {_NOT}\b",
    r"(?:please (?:try|retry)\b[^.!?]*\b(?:again|later)|\btry again (?:later|in a (?:moment|few)))\b[^.!?]*\W*\Z",
    r"please retry\W*\Z|\b(?:i(?:'m| am)|we(?:'re| are)) (?:having trouble \w+ing|experiencing (?:high|heavy))\b",
    r"\b(?:unable|failed|not able) to (?:complete|process|fulfil\w*|handle) (?:the|your|this) request\b",
    # Nothing but the error.
    r"\A\W*(?:(?:sorry|oops)\W+)?something went wrong\b",
    r"\A\W*(?:(?:sorry|oops)\W+)?an? (?:\w+ ){0,2}error (?:has )?occurred\W*\Z",
    (
        r"\A(?:\W|http|error|status|code|[45]\d\d)*+(?:service (?:temporarily )?unavailable|internal server error"
        r"|too many requests|gateway time-?out|bad gateway|rate limit (?:exceeded|reached)|overloaded)\W*\Z"
    ),
    (
        r"\A\W*(?:sorry\W+)?(?:the|this|our) (?:\w+ )?(?:model|service|server|system) is (?:\w+ly )?"
        r"(?:overloaded|unavailable|busy|at capacity)\b"
    ),
    # German, French, Spanish, Portuguese, Italian, Russian
    r"fehler (?:beim|bei der) (?:verarbeit|bearbeit|erstell|abruf)\w*|\bihre anfrage (?:konnte|kann)\b[^.!?]* nicht\b",
    r"\bich (?:kann|konnte)(?: \w+){0,6} nicht (?:verarbeiten|abrufen|lesen|zugreifen)",
    r"\bbitte versuchen sie es [^.!?]*\W*\Z",
    r"erreur (?:s'est produite|est survenue) (?:lors|pendant|en)\b|veuillez réessayer",
    r"\bje n'ai pas pu (?:traiter|accéder)",
    r"\berror al (?:procesar|generar|acceder)|\bint[eé]nt\w+ (?:de nuevo|nuevamente|más tarde)",
    r"\bno (?:puedo|pude) (?:acceder|procesar)",
    r"\berro ao (?:processar|gerar|acessar)|\btente novamente|\bnão (?:consegui|pude|posso) (?:acessar|processar)",
    r"errore durante (?:l'elabora|la genera|il tratt)|\briprov\w+ più tardi",
    r"\bnon (?:posso|sono riuscit\w a) (?:accedere|elaborare)",
    r"ошибка при (?:обработке|создании|составлении)|попробуйте (?:ещё|еще) раз|повторите попытку",
    # Chinese, Japanese
    r"(?:处理|處理|生成)[^\u3002]{0,20}(?:时|時)(?:发生|發生|出现|出現|出错|出錯)|请稍后[再重]?试|請稍後再試",
    r"処理中にエラー|(?:もう一度|再度)お試しください",
)

_OF_SUMMARY: Final = regex.compile(_SUMMARY)
_CANNOT: Final = regex.compile("|".join(_CANNOT_SUMMARISE))
_FAILURE: Final = regex.compile(rf"(?:(?!{REPORTS}).)*?(?P<sentence>{'|'.join(_PHRASES)})")


def reports_failure(text: str, record: Iterable[str]) -> bool:
    """Tells whether an answer is short and has a usual sentence of an error that the conversation does not have.

    record: the texts of the conversation, which may tell of one in other words, too.
    """
    said = said_shortly(text)
    found = None if said is None else _FAILURE.match(said)
    return found is not None and not any(found["sentence"] in plain(part) for part in record)


def could_not_summarise(text: str, record: Iterable[str]) -> bool:
    """Tells whether an answer is short and says that it could not summarise. record: the texts of the conversation."""
    said = said_shortly(text)
    if said is None or _CANNOT.search(said) is None:
        return False
    return not any(_OF_SUMMARY.search(plain(part)) for part in record)
