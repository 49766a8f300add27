"""How models excuse themselves or answer back in other languages than English, as `english_excuses` has it.

Each is found anywhere in a text. Where a language lets verbs say I, these do; Japanese and Korean say it by politeness.
"""

from __future__ import annotations

from typing import Final

_ASKED: Final = r"\b[^?]{0,120}\?\W*\Z"
"""From how a question begins to the end of the text."""

FOREIGN_EXCUSES: Final = (
    # Asking for the text
    r"\bbitte \w+ sie\b[^.!?]{0,30}\b(?:text|gespräch|unterhaltung)",
    r"\bveuillez\b[^.!?]{0,30}\b(?:texte|conversation|messages|contenu)",
    r"\bpor favor\b[^.!?]{0,30}\b(?:texto|conversa|mensa|contenido)",
    r"\bper favore\b[^.!?]{0,30}\b(?:testo|conversazione|messaggi)",
    r"\bпожалуйста\b[^.!?]{0,30}\b(?:текст|бесед|разговор|сообщ)",
    r"[请請][^。!?]{0,8}(?:提供|粘贴|貼上|发送|傳送|分享)[^。!?]{0,12}(?:对话|對話|文本|文字|内容|內容)",
    r"(?:会話|テキスト)(?:の内容)?を(?:貼り付け|提供し|共有し|送って|入力し)",
    # What it is
    r"\b(?:als (?:eine? )?(?:ki|ai|sprachmodell|taalmodel)|en tant qu(?:'ia|e modèle)|jako (?:ai|model językowy))\b",
    r"\bcom[eo] (?:una? )?(?:ia|model+o (?:de l|linguistico))|\bкак (?:ии|языковая модель)",
    r"作[为為].{0,3}(?:人工智|ai|[语語]言模型)",
    r"(?:ai|言語モデル|인공지능|언어 모델)(?:として|로서)",
    # German
    r"\bich (?:kann|darf|möchte|werde|will|habe|könnte)\b[^.!?]{0,80}\b(?:nicht|kein\w*)\b",
    r"\b(?:kann|darf|möchte|werde|will|habe|könnte) ich\b[^.!?]{0,80}\b(?:nicht|kein\w*)\b",
    r"\b(?:liegen|liegt|sind) mir (?:dazu |hierzu )?(?:kein|nicht)",
    r"\bich muss\b[^.!?]{0,40}\bablehnen\b",
    r"\b(?:können|könnten|möchten|würden|wollen) sie" + _ASKED,
    r"\b(?:kann|soll|darf) ich" + _ASKED,
    r"\bbitte wenden sie sich\b",
    # French
    r"\bje (?:ne (?:peux|puis|suis|dispose|souhaite|vais)|n'ai (?:pas|aucun))\b",
    r"\bje (?:préfère ne pas|refuse)\b",
    r"\bpuis-je" + _ASKED,
    r"\b(?:pouvez|pourriez|souhaitez|voulez|désirez)-vous" + _ASKED,
    # Spanish
    r"\b(?:no (?:puedo|tengo|podré|dispongo|me es posible)|prefiero no|me niego)\b",
    r"\b(?:puedo|puede|podría|desea|quiere|quieres|puedes)" + _ASKED,
    # Italian
    r"\bnon (?:posso|ho|sono in grado|dispongo)\b",
    r"\b(?:posso|può|potrebbe|vuole|desidera|puoi)" + _ASKED,
    # Portuguese
    r"\bnão (?:posso|tenho|consigo|disponho)\b",
    r"\b(?:posso|pode|poderia|gostaria|deseja)" + _ASKED,
    # Dutch
    r"\b(?:ik (?:kan|mag|heb|wil)|(?:kan|mag|heb|wil) ik)\b[^.!?]{0,80}\b(?:niet|geen)\b",
    r"\b(?:kan ik|kunt u|kun je|wilt u|wil je|zou u)" + _ASKED,
    # Polish, Czech
    r"\bnie (?:mogę|mam|jestem w stanie)\b",
    r"\b(?:nemohu|nemůžu|nemám)\b",
    r"\b(?:mogę|mohu|czy może|czy chce|můžete)" + _ASKED,
    # Swedish, Danish, Norwegian
    r"\b(?:jag|jeg) (?:kan|har|får|vill|vil|må)\b[^.!?]{0,80}\b(?:inte|inge[nt]|inga|ikke)\b",
    r"\b(?:kan|har|får|vill|vil|må) (?:jag|jeg)\b[^.!?]{0,80}\b(?:inte|inge[nt]|inga|ikke)\b",
    r"\bkan (?:jag|jeg|du|ni)" + _ASKED,
    # Turkish
    r"\w(?:amam|emem|amıyorum|emiyorum)\b",
    r"\b(?:bilgim|erişimim|yetkim) yok\b",
    r"\b(?:olabilirim|edebilirim|misiniz|mısınız|musunuz|ister misin)\W*\Z",
    # Indonesian and Malay, Vietnamese
    r"\bsaya tidak (?:dapat|bisa|memiliki|punya|boleh)\b",
    r"\bsaya bantu" + _ASKED,
    r"\btôi (?:không|chưa) (?:thể|có|được)\b",
    r"\btôi có thể giúp\b",
    # Russian, Ukrainian
    r"\b(?:не могу|не смогу|не имею|у меня нет|не можу|не маю|у мене немає)\b",
    r"\b(?:могу|можу|можете|могли бы|хотите)" + _ASKED,
    # Greek, Arabic, Hebrew, Persian, Hindi
    r"\b(?:δεν μπορώ|δεν έχω)\b",
    r"لا يمكنني|لا أستطيع|ليس لدي|لا أملك|لن أتمكن",
    r"كيف يمكنني|هل (?:يمكنك|تريد|ترغب)[^؟]{0,120}؟\W*\Z",
    r"אני לא יכול|איני יכול|אינני יכול|אין לי|איך (?:אני יכול|אוכל)",
    r"نمی\u200c?\s?توانم|دسترسی ندارم",
    r"मैं[^।.?!]{0,80}नहीं[^।.?!]{0,20}सक(?:ता|ती)|मेरे पास[^।.?!]{0,60}नहीं|मदद कर सक(?:ता|ती) हूँ\W*\Z",
    # Chinese
    r"我是[^。!]{0,30}(?:助手|助理|模型)",
    r"我\w{0,6}(?:无法|無法|不能|不会|不會|没有关于|沒有關於|没有权限|沒有權限|没有访问|做不到|拒绝|拒絕)",
    r"[请請][问問][^。!]{0,60}\?\W*\Z|需要我|(?:什么|什麼)(?:可以|能)?(?:帮|幫)[^。!]{0,20}\?",
    r"建[议議](?:您|你)(?:直接)?(?:联系|聯繫|咨询|諮詢)",
    # Japanese
    r"(?:アシスタント|言語モデル)です",
    r"(?:いた)?しかねます|お断り(?:します|いたします)",
    r"(?:ですか|ますか|ましょうか|でしょうか)\W*\Z|お問い合わせください",
    # Korean, Thai
    r"(?:정보|권한)가 없(?:습니다|어요)|(?:드릴까요|주시겠(?:어요|습니까)|하시겠(?:어요|습니까))",
    r"(?:ฉัน|ผม|ดิฉัน)ไม่(?:สามารถ|มี|อาจ)|ให้(?:ฉัน|ผม|ดิฉัน)ช่วย",
)

FOREIGN_IMPERSONAL_EXCUSES: Final = (
    r"\bnicht zusammengefasst\b",
    r"\b(?:personenbezogene|persönliche|vertrauliche|sensible) (?:daten|informationen|angaben)\b[^.!?]{0,40}\bnicht\b",
    r"(?:无法|無法|不能|不便|不予)(?:进行|進行)?(?:总结|總結|概括|摘要|归纳)",
    r"(?:でき|持って(?:い|おり)|分かり|わかり|存じ(?:上げ)?)ません",
    r"수 없(?:습니다|어요)",
    (
        r"(?:无法|無法|不能|没办法|沒辦法)(?:继续|繼續)?"
        r"(?:(?:为|為|向|给|給)?[您你]|(?:提供)?(?:帮助|幫助|协助|協助|帮忙|幫忙)|(?:处理|處理|完成|满足|滿足|回答)[您你这這该該此])"
    ),
    # Finnish, whose verbs say I, also where somebody reports what he himself cannot do
    r"\b(?:en|emme) (?:valitettavasti )?(?:voi|pysty|saa|kykene|osaa)\b",
    r"\bminulla ei ole\b|\b(?:kielimallina|tekoälynä)\b|\bvoinko auttaa\b|\bmiten voin auttaa\b",
    # An error
    r"\bfehler (?:ist )?aufgetreten\b|\A\W*es ist ein fehler\b[^.!?]{0,60}\baufgetreten\b",
    r"\bversuchen sie es\b[^.!?]{0,40}\b(?:erneut|noch ?einmal|später)\b",
    r"\berreur (?:s'est produite|est survenue)\b|\bveuillez réessayer\b",
    r"\b(?:ha ocurrido|se ha producido|se produjo|ocurrió) un error\b",
    r"\b(?:inténtelo|intente|inténtalo)\b[^.!?]{0,20}\bnuevo\b",
    r"\bsi è verificato un errore\b|\b(?:riprova|riprovare)\b[^.!?]{0,20}\btardi\b",
    r"\bocorreu um erro\b|\btente novamente\b",
    r"\bfout opgetreden\b|\bprobeer het\b[^.!?]{0,20}\b(?:opnieuw|later)\b",
    r"\b(?:wystąpił błąd|spróbuj ponownie|došlo k chybě|zkuste to (?:znovu|později))\b",
    r"\b(?:ett fel (?:har )?(?:uppstått|inträffat|uppstod)|tapahtui virhe)\b",
    r"\bdet (?:oppsto|oppstod|opstod) en (?:feil|fejl)\b",
    r"\bbir hata oluştu\b|\bterjadi kesalahan\b|\bđã xảy ra lỗi\b",
    r"\b(?:произошла ошибка|сталася помилка|повторите попытку)\b",
    r"\b(?:προέκυψε|παρουσιάστηκε) (?:ένα )?σφάλμα\b|حدث خطأ|אירעה שגיאה|خطایی رخ داد|त्रुटि हुई",
    r"(?:发生|發生|出现|出現)了?(?:错误|錯誤)|[请請]稍[后後]再?[试試]",
    r"エラーが発生|오류가 발생|เกิดข้อผิดพลาด",
)
"""What is said of other things too. Where the conversation says just this, a summary may."""

REPORTS: Final = (
    r"\b(?:sagte?n?|fragte?n?|schrieb|bittet|kundin|kunden?|nutzer(?:in)?|benutzer(?:in)?)\b",
    r"\b(?:dit|répond|écrit|clients?|cliente|utilisat(?:eur|rice))\b",
    r"\b(?:dice|dijo|pide|usuari[oa]|chiede|utente|disse|diz|pede)\b",
    r"\b(?:zegt|vraagt|klant|gebruiker|klient(?:ka)?|użytkowni(?:k|czka)|mówi|uživatel|kunden?|användaren?|bruker(?:en)?)\b",
    r"\b(?:dedi|diyor|söyle\w+|müşteri|kullanıcı|pengguna|khách hàng|người dùng)\b",
    r"\b(?:клиент\w*|пользовател\w*|говорит|сказал\w*)\b",
    r"المستخدم|العميل|يقول|לקוח|משתמש|ग्राहक|उपयोगकर्ता",
    r"用[户戶]|客[户戶]|助手[说說表]|(?:利用者|ユーザー?|顧客)(?:は|が|の)|사용자|고객|ผู้ใช้|ลูกค้า",
)
"""Who spoke, in the third person: what stands beside it is no excuse of a model."""
