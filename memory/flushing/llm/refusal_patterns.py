"""How models decline or ask back, as regular expressions on text in lower case with single spaces.

Each says that the model itself does not do what it was asked. What people say of each other in a conversation may be
the first sentence of a summary: "unfortunately Anna can't help", "please send the documents to Bob".
"""

from __future__ import annotations

from typing import Final, NamedTuple

_TEXT: Final = r"(?:conversations?|records?|transcripts?|messages?|texts?|contents?|dialogues?|chats?|input)"
_WORK: Final = (
    rf"(?:{_TEXT}|summary|summaries|requests?|enough (?:information|context|details?)"
    r"|(?:medical|legal|financial|professional) advice)"
)
_SOME: Final = r"(?:[\w-]+ ){0,4}"
_DOES_NOT: Final = (
    r"i(?: can't| cannot| can not| won't| will not| couldn't| could not| don't| do not| would not|(?:'m"
    r"| am) unable to"
    r"|(?:'m| am) not (?:able|allowed|permitted|programmed|designed|willing|equipped|comfortable)(?: to)?),? "
    r"(?:\w+ly,? |in good conscience |be able to )*"
)

LEADS: Final[tuple[str, ...]] = (
    r"sure|certainly|of course|okay|ok|hello|hi|hey|there|no|unfortunately|regrettably|however|but",
    r"i(?:'m| am) (?:(?:so|very|really|truly|deeply|terribly|extremely) )*(?:sorry|afraid)(?: that| to say)?",
    r"sorry(?: about that)?|i regret(?: to (?:say|inform you))?(?: that)?|please accept [^,.]{0,30}",
    r"i (?:do |must |sincerely |deeply )*apologi[sz]e(?: for [^,.]{0,60})?",
    r"(?:my |our )?(?:sincere |sincerest |deepest )?apologies",
    r"thank(?:s| you)\b[^.!]{0,60}|i (?:understand|appreciate)\b[^.,]{0,80}",
)
"""What may stand before a refusal in English, several of them too; alone it is none."""

_IS_A_MODEL: Final = (
    r"as an? (?:\w+ )?(?:ai|artificial intelligence|language model|llm)(?: (?:language )?model| assistant"
    r"| system)?"
    r"(?: (?:made|trained|developed|created) by \w+)?(?:,| (?:i|my|it)\b)"
    r"|i(?:'m| am) not an? (?:\w+ )?(?:doctor|physician|lawyer|attorney|professional|expert)\b[^.!?]{0,40}"
    r"\bi (?:can't|cannot)"
    r"|i(?:'m| am) (?:just |only )?an? (?:ai|artificial intelligence|(?:large )?language model)\b"
)
_DECLINES: Final = (
    rf"{_DOES_NOT}(?:(?:help|assist)(?: you)?\b(?! (?:me|us|him|her|them)\b)|summari[sz]|comply|fulfil"
    rf"|do (?:that|this|so)\b"
    r"|engage (?:in|with)|feel comfortable|participate in|continue with this|with (?:this|that) request)"
    rf"|{_DOES_NOT}(?:write|create|generate|produce|provide|give|offer|process|complete|access|see|view|find"
    rf"|have|detect"
    rf"|share|discuss|answer|respond to) {_SOME}{_WORK}\b"
    r"|i (?:must|have to|need to|would have to|will have to) (?:\w+ly )?(?:decline|refuse) ?(?:[.,;!]|$|to"
    r"|this|that|your)"
    r"|(?:unable to|not able to|cannot|can't) (?:summari[sz]e|comply|fulfil|assist|help with (?:this|that))"
    rf"|(?:this|that|the|your) {_WORK} (?:violates|goes against)"
    r"|let's (?:talk about something else|change the (?:topic|subject))"
)
_FOUND_NOTHING: Final = (
    rf"(?:it )?(?:appears|seems|looks like)(?: that| like)? (?:there(?:'s| is| are| was| were) (?:no|not"
    rf"|nothing)\b {_SOME}"
    rf"(?:{_TEXT}|to summari)|no {_TEXT}|you (?:have not|haven't|did not|didn't|forgot)|your {_TEXT}"
    rf"|the {_TEXT} (?:\w+ ){{0,3}}(?:empty|missing|blank|incomplete))"
    rf"|(?:there (?:is|are|was|were) )?(?:no|not any|not enough|insufficient) (?:\w+ )?{_TEXT} (?:(?:was"
    rf"|were|has been) )?"
    r"(?:to (?:be )?summari|(?:provided|given|supplied|attached|included)(?:\W*$|[.!;]| to summari| in your))"
    rf"|(?:the|your|this) (?:provided |given )?{_TEXT} (?:you (?:\w+ )?provided )?(?:is|are|was"
    rf"|appears? to be|seems? to be)"
    r" (?:empty|blank|missing)"
    r"|you (?:haven't|have not|didn't|did not) (?:\w+ )?(?:provide|include|paste|attach)"
)
_ASKS_BACK: Final = (
    r"(?:please|kindly|(?:could|can|would) you(?: please| kindly)?) (?:paste|provide|share|send|upload"
    r"|supply|give|include)"
    rf" (?:me |us )?(?:with )?(?:the|your|a|some)? ?(?:[\w-]+ )?{_TEXT}(?:\W*$|[.!?]| (?:you|that you"
    rf"|to (?:be )?summari|so|and i)\b)"
    r"|(?:could|can|would) you(?: please| kindly)? (?:give|tell|send|share|provide|let|clarify|confirm)\b[^.!?]*\?\W*$"
    r"|how (?:can|may|could) i (?:help|assist|be of)\b|what (?:can i (?:do for|help)"
    r"|would you like (?:me )?to)\b"
    r"|(?:i'd|i would|i'll|i will) be (?:happy|glad) to (?:help|assist|summari)|i(?:'m| am) ready to (?:help"
    r"|assist|summari)"
    rf"|(?:i'd|i would|i'll|i will|i) need (?:the|more|a|to see)\b {_SOME}(?:{_TEXT}|context|information)"
    r"|i(?:'m| am) (?:glad|happy) to help, but\b"
)

ENGLISH: Final[tuple[str, ...]] = (_IS_A_MODEL, _DECLINES, _FOUND_NOTHING, _ASKS_BACK)
"""How a refusal begins in English."""


class Way(NamedTuple):
    """The ways of another language, or of some that are close.

    regrets: how a sentence begins that declines if one of `tasks` follows in it. openings: what is enough alone.
    """

    regrets: str
    tasks: str
    openings: str


WAYS: Final[tuple[Way, ...]] = (
    # German
    Way(
        r"(?:es )?tut mir(?: \w+)? leid,? (?:aber|ich|doch|dabei|das|diese)"
        r"|leider (?:kann ich|darf ich|bin ich|ist es mir)"
        r"|(?:entschuldigung|entschuldigen sie|verzeihung|ich bedaure),? .{0,20}\bich|ich (?:kann|darf|werde"
        r"|möchte)"
        r"|ich bin (?:\w+ )?nicht in der lage",
        r"\b(?:nicht (?:helfen|weiterhelfen|zusammenfassen|nachkommen|erfüllen|behilflich)|zusammenzufassen"
        r"|zu helfen"
        r"|keine zusammenfassung|bei (?:dieser|ihrer) (?:bitte|anfrage))",
        r"ich muss (?:diese|ihre|die) (?:anfrage|bitte) ablehnen|als (?:ki|sprachmodell"
        r"|künstliche intelligenz)\b"
        r"|(?:hallo\W+)?(?:wie|womit) kann ich (?:ihnen|dir)\b.{0,20}(?:helfen|behilflich)"
        r"|bitte (?:geben|fügen|senden|stellen|teilen|schicken|kopieren) sie\b[^.!?]{0,30}(?:text|gespräch"
        r"|unterhaltung)",
    ),
    # French
    Way(
        r"(?:je suis |vraiment |sincèrement )*désolée?,? (?:mais )?je|je m'excuse,? (?:mais )?je"
        r"|malheureusement,? je"
        r"|(?:toutes )?mes excuses,? (?:mais )?je|je ne (?:peux|puis|suis)",
        r"\b(?:vous aider|t'aider|assister|résumer|répondre à (?:cette|votre)|donner suite|fournir (?:un"
        r"|de) résumé|satisfaire)",
        r"en tant (?:qu'ia|qu'intelligence|que modèle|qu'assistant)|(?:bonjour\W+)?comment puis-je (?:vous|t')"
        r"|(?:veuillez|pourriez-vous|pouvez-vous|merci de)\b[^.!?]{0,20}(?:fournir|coller|partager"
        r"|envoyer)[^.!?]{0,20}"
        r"(?:texte|conversation|messages|contenu)",
    ),
    # Spanish
    Way(
        r"(?:lo siento|lo lamento|perdón|disculp\w+|lamentablemente"
        r"|desafortunadamente)?\W*(?:pero )?no (?:puedo|podré|me es)",
        r"\b(?:ayudar(?:te|le)?\b (?:con|en)|asistir(?:te|le)|resumir|cumplir con (?:esta|esa|tu|su)"
        r"|proporcionar un resumen)",
        r"como (?:una? )?(?:ia|inteligencia artificial|modelo de lengu)|(?:hola\W+)?(?:en qué"
        r"|cómo) puedo ayudar"
        r"|por favor,? (?:proporcion|compart|pega|pegue|envía|envíe)\w*[^.!?]{0,20}(?:texto|conversación"
        r"|mensajes|contenido)",
    ),
    # Italian
    Way(
        r"(?:mi dispiace|mi scuso|scusa\w*|purtroppo|(?:sono )?spiacente)?\W*(?:ma )?non (?:posso"
        r"|sono in grado)",
        r"\b(?:aiutar(?:ti|la|vi)|assister(?:ti|la)|riassumere|soddisfare|fornire un riassunto)",
        r"(?:come|in quanto) (?:ia|modello linguistico|intelligenza)|(?:ciao\W+)?come posso aiutar"
        r"|per favore,? (?:fornisc|incoll|condivid|invi)\w*[^.!?]{0,20}(?:testo|conversazione|messaggi)",
    ),
    # Portuguese
    Way(
        r"(?:desculp\w+|sinto muito|lamento|infelizmente|peço desculpas?)?\W*(?:mas )?(?:eu )?não (?:posso"
        r"|consigo|sou capaz)",
        r"\b(?:ajud\w+ (?:com|nisso)|ajudá-l|auxili|resumir|atender a? ?(?:est|ess|seu)|cumprir"
        r"|fornecer um resumo)",
        r"como (?:uma )?(?:ia|inteligência artificial|modelo de ling)|(?:olá\W+)?como posso ajud"
        r"|por favor,? (?:forneç|cole|compartilh|envi)\w*[^.!?]{0,20}(?:texto|conversa|mensagens)",
    ),
    # Dutch
    Way(
        r"(?:het spijt (?:me|mij)|sorry|excuses)\W*(?:maar )?(?:daar|dat|dit|ik)|helaas kan ik|ik kan",
        r"\b(?:niet (?:bij )?helpen|niet samenvatten|niet voldoen|geen samenvatting)",
        r"als (?:een )?(?:ai|taalmodel)|(?:geef|plak|deel|stuur) (?:de|het|uw|je)\b[^.!?]{0,20}(?:gesprek"
        r"|tekst)",
    ),
    # Polish, Czech
    Way(
        r"(?:przepraszam|niestety|przykro mi)?\W*(?:ale )?nie mogę|(?:omlouvám se|bohužel"
        r"|je mi líto)?\W*(?:ale )?nemohu",
        r"\b(?:w tym pomóc|ci pomóc|panu pomóc|streścić|podsumować|spełnić|pomoci|pomoct|shrnout|vyhovět)",
        r"jako (?:model językowy|sztuczna inteligencja|jazykový model)",
    ),
    # Swedish, Danish, Norwegian, Finnish
    Way(
        r"(?:jag är ledsen|tyvärr|beklagar|(?:jeg )?beklager|desværre|dessverre)\W*(?:men )?(?:jag|jeg|kan)"
        r"|valitettavasti en|olen pahoillani",
        r"\b(?:hjälpa till|hjälpa dig|hjelpe (?:med|deg)|hjælpe (?:med|dig)|sammanfatta|sammenfatte"
        r"|opsummere|oppsummere)"
        r"|auttaa|tiivistää",
        r"som (?:en )?(?:ai|språkmodell|sprogmodel)\b",
    ),
    # Turkish, Indonesian and Malay, Vietnamese
    Way(
        r"üzgünüm|özür dilerim|maalesef|(?:mohon |saya minta )?maaf|xin lỗi|rất tiếc|tôi (?:rất )?(?:xin lỗi"
        r"|tiếc)",
        r"yardımcı olam|özetleyem|yerine getirem|saya tidak (?:dapat|bisa) (?:membantu|meringkas|memenuhi"
        r"|memberikan)"
        r"|tôi không thể (?:giúp|hỗ trợ|tóm tắt|đáp ứng|cung cấp)",
        r"sebagai (?:model bahasa|ai)\b|bir yapay zek",
    ),
    # Russian, Ukrainian
    Way(
        r"(?:извините|простите|к сожалению|сожалею|мне (?:очень )?жаль"
        r"|прошу прощения)?\W*(?:но )?я не (?:могу|смогу)"
        r"|(?:вибачте|на жаль|перепрошую)?\W*(?:але )?я не можу",
        r"\b(?:помочь (?:с|вам)|вам помочь|резюмировать|обобщить|выполнить (?:эт|ваш)|допомогти|узагальнити"
        r"|виконати (?:цей|ваш))",
        r"как (?:языковая модель|искусственный|ии)\b"
        r"|пожалуйста,? (?:предоставьте|вставьте|пришлите)[^.!?]{0,20}(?:текст|бесед|разговор|сообщ)",
    ),
    # Greek, Arabic, Hebrew, Persian, Hindi
    Way(
        r"λυπάμαι|δυστυχώς δεν μπορώ|عذر[اً]*|(?:أنا )?آسف|أعتذر|للأسف|(?:אני )?מצטער\w*|לצערי אני"
        r"|متأسفم|متاسفم|(?:मुझे |मैं )?(?:खेद|क्षमा|माफ़)",
        r"να (?:σας )?βοηθήσω|συνοψίσω|مساعدتك|المساعدة في|تلخيص|לעזור ב|לסייע ב|לסכם|کمک کنم|خلاصه کنم"
        r"|मैं[^.!?।]{0,20}मदद नहीं",
        r"بصفتي نموذج|كنموذج لغ|ως γλωσσικό μοντέλο",
    ),
    # Chinese
    Way(
        r"我?(?:很|非常|十分)?(?:抱歉|对不起|對不起|遗憾|遺憾)?\W*(?:但)?我?(?:这个|该|這個"
        r"|該)?\w{0,4}(?:无法|無法|不能|没办法|沒辦法)",
        r"帮助您|帮助你|幫助您|幫助你|为您|為您|协助|協助|提供[^。！？]{0,8}(?:帮助|协助|幫助|協助|摘要|总结"
        r"|總結)"
        r"|(?:总结|總結|满足|滿足|回答|完成|处理|處理)(?:您|你|这|這|该|該|此)",
        r"作为(?:一个|一名)?(?:人工智能|ai|大?语言模型)|作為(?:一個)?(?:人工智慧|ai|語言模型)"
        r"|[请請]您?(?:提供|粘贴|貼上|发送|傳送|分享)[^。！？]{0,12}(?:对话|對話|文本|文字|内容|內容)"
        r"|(?:您好|你好)\W*(?:请问|請問)?(?:有什么|有什麼)",
    ),
    # Japanese
    Way(
        r"(?:大変)?(?:申し訳|すみません|ごめんなさい|恐れ入りますが)",
        r"お手伝い(?:でき|する)|お答え(?:でき|する)|お応え|要約(?:でき|すること)|対応(?:でき|いたし)",
        r"(?:ai|言語モデル|人工知能)として|(?:要約する)?(?:会話|テキスト)(?:の内容)?を(?:貼り付け|提供し"
        r"|共有し|送って|入力し)",
    ),
    # Korean, Thai
    Way(
        r"(?:정말 )?(?:죄송|미안)(?:합니다|하지만)\W*|(?:ต้อง)?(?:ขออภัย|ขอโทษ|เสียใจ)",
        r"도와드릴 수|도움을 드릴|요약(?:할|해 드릴) 수|ฉันไม่สามารถ|ผมไม่สามารถ",
        r"(?:ai|인공지능|언어 모델)(?:로서|로써)|요약할 대화",
    ),
)
