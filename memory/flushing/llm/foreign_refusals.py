"""How models decline or ask back in other languages than English, as `english_refusals` has it."""

from __future__ import annotations

from typing import Final, NamedTuple


class Way(NamedTuple):
    """The ways of one language, or of some that are close, each as alternatives.

    regrets: how a sentence begins that declines if one of `tasks` follows in it. openings: what is enough alone.
    """

    regrets: tuple[str, ...]
    tasks: tuple[str, ...]
    openings: tuple[str, ...]


WAYS: Final[tuple[Way, ...]] = (
    # German
    Way(
        regrets=(
            r"(?:es )?tut mir(?: \w+)? leid,? (?:aber|ich|doch|dabei|das|diese)",
            r"leider (?:kann ich|darf ich|bin ich|ist es mir)",
            r"(?:entschuldigung|entschuldigen sie|verzeihung|ich bedaure),? .{0,20}\bich",
            r"ich (?:kann|darf|werde|möchte)",
            r"ich bin (?:\w+ )?nicht in der lage",
        ),
        tasks=(
            r"\bnicht (?:helfen|weiterhelfen|zusammenfassen|nachkommen|erfüllen|behilflich)",
            r"\bzusammenzufassen",
            r"\bzu helfen",
            r"\bkeine zusammenfassung",
            r"\bbei (?:dieser|ihrer) (?:bitte|anfrage)",
        ),
        openings=(
            r"ich muss (?:diese|ihre|die) (?:anfrage|bitte) ablehnen",
            r"als (?:ki|sprachmodell|künstliche intelligenz)\b",
            r"(?:hallo\W+)?(?:wie|womit) kann ich (?:ihnen|dir)\b.{0,20}(?:helfen|behilflich)",
            (
                r"bitte (?:geben|fügen|senden|stellen|teilen|schicken|kopieren) sie\b[^.!?]{0,30}"
                r"(?:text|gespräch|unterhaltung)"
            ),
        ),
    ),
    # French
    Way(
        regrets=(
            r"(?:je suis |vraiment |sincèrement )*désolée?,? (?:mais )?je",
            r"je m'excuse,? (?:mais )?je",
            r"malheureusement,? je",
            r"(?:toutes )?mes excuses,? (?:mais )?je",
            r"je ne (?:peux|puis|suis)",
        ),
        tasks=(
            r"\bvous aider",
            r"\bt'aider",
            r"\bassister",
            r"\brésumer",
            r"\brépondre à (?:cette|votre)",
            r"\bdonner suite",
            r"\bfournir (?:un|de) résumé",
            r"\bsatisfaire",
        ),
        openings=(
            r"en tant (?:qu'ia|qu'intelligence|que modèle|qu'assistant)",
            r"(?:bonjour\W+)?comment puis-je (?:vous|t')",
            (
                r"(?:veuillez|pourriez-vous|pouvez-vous|merci de)\b[^.!?]{0,20}"
                r"(?:fournir|coller|partager|envoyer)[^.!?]{0,20}(?:texte|conversation|messages|contenu)"
            ),
        ),
    ),
    # Spanish
    Way(
        regrets=(
            (
                r"(?:lo siento|lo lamento|perdón|disculp\w+|lamentablemente|desafortunadamente)?\W*(?:pero )?"
                r"no (?:puedo|podré|me es)"
            ),
        ),
        tasks=(
            r"\bayudar(?:te|le)?\b (?:con|en)",
            r"\basistir(?:te|le)",
            r"\bresumir",
            r"\bcumplir con (?:esta|esa|tu|su)",
            r"\bproporcionar un resumen",
        ),
        openings=(
            r"como (?:una? )?(?:ia|inteligencia artificial|modelo de lengu)",
            r"(?:hola\W+)?(?:en qué|cómo) puedo ayudar",
            (
                r"por favor,? (?:proporcion|compart|pega|pegue|envía|envíe)\w*[^.!?]{0,20}"
                r"(?:texto|conversación|mensajes|contenido)"
            ),
        ),
    ),
    # Italian
    Way(
        regrets=(
            r"(?:mi dispiace|mi scuso|scusa\w*|purtroppo|(?:sono )?spiacente)?\W*(?:ma )?non (?:posso|sono in grado)",
        ),
        tasks=(
            r"\baiutar(?:ti|la|vi)",
            r"\bassister(?:ti|la)",
            r"\briassumere",
            r"\bsoddisfare",
            r"\bfornire un riassunto",
        ),
        openings=(
            r"(?:come|in quanto) (?:ia|modello linguistico|intelligenza)",
            r"(?:ciao\W+)?come posso aiutar",
            r"per favore,? (?:fornisc|incoll|condivid|invi)\w*[^.!?]{0,20}(?:testo|conversazione|messaggi)",
        ),
    ),
    # Portuguese
    Way(
        regrets=(
            (
                r"(?:desculp\w+|sinto muito|lamento|infelizmente|peço desculpas?)?\W*(?:mas )?(?:eu )?"
                r"não (?:posso|consigo|sou capaz)"
            ),
        ),
        tasks=(
            r"\bajud\w+ (?:com|nisso)",
            r"\bajudá-l",
            r"\bauxili",
            r"\bresumir",
            r"\batender a? ?(?:est|ess|seu)",
            r"\bcumprir",
            r"\bfornecer um resumo",
        ),
        openings=(
            r"como (?:uma )?(?:ia|inteligência artificial|modelo de ling)",
            r"(?:olá\W+)?como posso ajud",
            r"por favor,? (?:forneç|cole|compartilh|envi)\w*[^.!?]{0,20}(?:texto|conversa|mensagens)",
        ),
    ),
    # Dutch
    Way(
        regrets=(
            r"(?:het spijt (?:me|mij)|sorry|excuses)\W*(?:maar )?(?:daar|dat|dit|ik)",
            r"helaas kan ik",
            r"ik kan",
        ),
        tasks=(
            r"\bniet (?:bij )?helpen",
            r"\bniet samenvatten",
            r"\bniet voldoen",
            r"\bgeen samenvatting",
        ),
        openings=(
            r"als (?:een )?(?:ai|taalmodel)",
            r"(?:geef|plak|deel|stuur) (?:de|het|uw|je)\b[^.!?]{0,20}(?:gesprek|tekst)",
        ),
    ),
    # Polish, Czech
    Way(
        regrets=(
            r"(?:przepraszam|niestety|przykro mi)?\W*(?:ale )?nie mogę",
            r"(?:omlouvám se|bohužel|je mi líto)?\W*(?:ale )?nemohu",
        ),
        tasks=(
            r"\bw tym pomóc",
            r"\bci pomóc",
            r"\bpanu pomóc",
            r"\bstreścić",
            r"\bpodsumować",
            r"\bspełnić",
            r"\bpomoci",
            r"\bpomoct",
            r"\bshrnout",
            r"\bvyhovět",
        ),
        openings=(r"jako (?:model językowy|sztuczna inteligencja|jazykový model)",),
    ),
    # Swedish, Danish, Norwegian, Finnish
    Way(
        regrets=(
            r"(?:jag är ledsen|tyvärr|beklagar|(?:jeg )?beklager|desværre|dessverre)\W*(?:men )?(?:jag|jeg|kan)",
            r"valitettavasti en",
            r"olen pahoillani",
        ),
        tasks=(
            r"\bhjälpa till",
            r"\bhjälpa dig",
            r"\bhjelpe (?:med|deg)",
            r"\bhjælpe (?:med|dig)",
            r"\bsammanfatta",
            r"\bsammenfatte",
            r"\bopsummere",
            r"\boppsummere",
            r"auttaa",
            r"tiivistää",
        ),
        openings=(r"som (?:en )?(?:ai|språkmodell|sprogmodel)\b",),
    ),
    # Turkish, Indonesian and Malay, Vietnamese
    Way(
        regrets=(
            r"üzgünüm",
            r"özür dilerim",
            r"maalesef",
            r"(?:mohon |saya minta )?maaf",
            r"xin lỗi",
            r"rất tiếc",
            r"tôi (?:rất )?(?:xin lỗi|tiếc)",
        ),
        tasks=(
            r"yardımcı olam",
            r"özetleyem",
            r"yerine getirem",
            r"saya tidak (?:dapat|bisa) (?:membantu|meringkas|memenuhi|memberikan)",
            r"tôi không thể (?:giúp|hỗ trợ|tóm tắt|đáp ứng|cung cấp)",
        ),
        openings=(
            r"sebagai (?:model bahasa|ai)\b",
            r"bir yapay zek",
        ),
    ),
    # Russian, Ukrainian
    Way(
        regrets=(
            (
                r"(?:извините|простите|к сожалению|сожалею|мне (?:очень )?жаль|прошу прощения)?\W*(?:но )?"
                r"я не (?:могу|смогу)"
            ),
            r"(?:вибачте|на жаль|перепрошую)?\W*(?:але )?я не можу",
        ),
        tasks=(
            r"\bпомочь (?:с|вам)",
            r"\bвам помочь",
            r"\bрезюмировать",
            r"\bобобщить",
            r"\bвыполнить (?:эт|ваш)",
            r"\bдопомогти",
            r"\bузагальнити",
            r"\bвиконати (?:цей|ваш)",
        ),
        openings=(
            r"как (?:языковая модель|искусственный|ии)\b",
            r"пожалуйста,? (?:предоставьте|вставьте|пришлите)[^.!?]{0,20}(?:текст|бесед|разговор|сообщ)",
        ),
    ),
    # Greek, Arabic, Hebrew, Persian, Hindi
    Way(
        regrets=(
            r"λυπάμαι",
            r"δυστυχώς δεν μπορώ",
            r"عذر[اً]*",
            r"(?:أنا )?آسف",
            r"أعتذر",
            r"للأسف",
            r"(?:אני )?מצטער\w*",
            r"לצערי אני",
            r"متأسفم",
            r"متاسفم",
            r"(?:मुझे |मैं )?(?:खेद|क्षमा|माफ़)",
        ),
        tasks=(
            r"να (?:σας )?βοηθήσω",
            r"συνοψίσω",
            r"مساعدتك",
            r"المساعدة في",
            r"تلخيص",
            r"לעזור ב",
            r"לסייע ב",
            r"לסכם",
            r"کمک کنم",
            r"خلاصه کنم",
            r"मैं[^.!?।]{0,20}मदद नहीं",
        ),
        openings=(
            r"بصفتي نموذج",
            r"كنموذج لغ",
            r"ως γλωσσικό μοντέλο",
        ),
    ),
    # Chinese
    Way(
        regrets=(
            r"我?(?:很|非常|十分)?(?:抱歉|对不起|對不起|遗憾|遺憾)?\W*(?:但)?我?(?:这个|该|這個|該)?\w{0,4}(?:无法|無法|不能|没办法|沒辦法)",
        ),
        tasks=(
            r"帮助您",
            r"帮助你",
            r"幫助您",
            r"幫助你",
            r"为您",
            r"為您",
            r"协助",
            r"協助",
            r"提供[^。！？]{0,8}(?:帮助|协助|幫助|協助|摘要|总结|總結)",
            r"(?:总结|總結|满足|滿足|回答|完成|处理|處理)(?:您|你|这|這|该|該|此)",
        ),
        openings=(
            r"作为(?:一个|一名)?(?:人工智能|ai|大?语言模型)",
            r"作為(?:一個)?(?:人工智慧|ai|語言模型)",
            r"[请請]您?(?:提供|粘贴|貼上|发送|傳送|分享)[^。！？]{0,12}(?:对话|對話|文本|文字|内容|內容)",
            r"(?:您好|你好)\W*(?:请问|請問)?(?:有什么|有什麼)",
        ),
    ),
    # Japanese
    Way(
        regrets=(r"(?:大変)?(?:申し訳|すみません|ごめんなさい|恐れ入りますが)",),
        tasks=(
            r"お手伝い(?:でき|する)",
            r"お答え(?:でき|する)",
            r"お応え",
            r"要約(?:でき|すること)",
            r"対応(?:でき|いたし)",
        ),
        openings=(
            r"(?:ai|言語モデル|人工知能)として",
            r"(?:要約する)?(?:会話|テキスト)(?:の内容)?を(?:貼り付け|提供し|共有し|送って|入力し)",
        ),
    ),
    # Korean, Thai
    Way(
        regrets=(
            r"(?:정말 )?(?:죄송|미안)(?:합니다|하지만)\W*",
            r"(?:ต้อง)?(?:ขออภัย|ขอโทษ|เสียใจ)",
        ),
        tasks=(
            r"도와드릴 수",
            r"도움을 드릴",
            r"요약(?:할|해 드릴) 수",
            r"ฉันไม่สามารถ",
            r"ผมไม่สามารถ",
        ),
        openings=(
            r"(?:ai|인공지능|언어 모델)(?:로서|로써)",
            r"요약할 대화",
        ),
    ),
)
