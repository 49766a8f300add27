"""The words that tell nothing of a conversation, by language: those of all sentences, of requests and of refusals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

COMMON_WORDS: Final[Mapping[str, str]] = {
    "English": """
        a about after again all also although always and another any anything are around because been before being
        below between both but can could did does doing done down each either else even every few for from further
        get give given going had has have having her here hers him his how however into its itself just last least
        less let like made make many may maybe might more most much must need needs never new next not nothing now
        off often once one only other our out over own part perhaps please rather really same say see shall she
        should since some someone something still such take than thank thanks that the their them then there these
        they thing things this those though through too two under until upon use used using very want wants was way
        well were what when where whether which while who whom whose why will with within without would yes yet you
        your yours found hear gone keep later ready reach talk tell told
    """,
    "English, of texts and requests": """
        ability able above access accordance against agree allowed answer apologies apologise apologize apology
        appears appropriate article ask asked asking asks assist assistance assistant assistants assisting attached
        available based basis cannot chat clarify clear comfortable comply concerns concise contain contained
        containing contains content context continue conversation conversations correct create data decline
        declined designed detail details dialogue didn directly discuss discussion document documents doesn don
        dear empty engage enough error errors ethical exchange explain fail failed feel following forward free
        fulfil fulfill further generate glad guidelines happy harmful haven hello help helpful helping idea include
        included including inappropriate inconvenience inform informed information input instead instructions isn kind
        kindly know
        language large legal let like likely look looks material message messages missing model models more
        necessary none offensive offer openai anthropic paste pasted perform permitted personal point policies
        policy possible prefer present prevent privacy private problem proceed process produce professional
        programmed prompt proper protect provide provided provides providing purpose query question questions read
        receive record records reference refuse regarding regret related relevant remain request requested requests
        require required resource respond response responses review right rules safe safety send sensitive sent
        share shared sharing simply situation sorry specific start subject sufficient suitable summaries summarise
        summarised summarising summarize summarized summarizing summary support sure system task text texts topic
        training transcript type unable understand understanding unfortunately unsafe upload user users valid
        version view violate violates violation volunteer wasn welcome willing wish won words work works write
        written wrong
        complete full incomplete internal limit mind moment moments notice server trouble
    """,
    "German": """
        aber alle allem allen alles als also auch auf aus bei bin bis bitte dabei daher damit dann das dass davon
        dazu dein deine dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch dort durch
        ein eine einem einen einer eines etwas euch euer für gegen gern gerne habe haben hat hatte hier ich ihm ihn
        ihnen ihr ihre ihrem ihren immer ist jede jeder jetzt kann kein keine keinen können könnte machen man mehr
        mein meine mich mir mit muss nach nein nicht nichts noch nun nur oder ohne schon sehr sein seine sich sie
        sind soll sondern und uns unser unter vom von vor war wäre was weil wenn wer werde werden wie wieder wir
        wird wurde wurden zum zur zwischen anfrage anliegen antwort aufgabe aufzeichnung beantworten bedauere
        behilflich bereitstellen daten eingabe enthält entschuldigen entschuldigung erfüllen erstellen fehler frage
        fragen gespräch gesprächs helfen hilfe informationen inhalt inhalte ki lage leid leider modell möglich
        nachricht nachrichten nutzer benutzer assistent richtlinien sprachmodell text tut unterhaltung unterstützen
        verarbeiten weiterhelfen zusammenfassen zusammenfassung geben teilen ablehnen fügen schicken schick senden
        darf dürfen sollte wollen zugriff
    """,
    "French": """
        afin ai ainsi alors après assez au aucun aucune aussi autre autres aux avant avec avez avoir bien car ce
        cela celle celui ces cet cette ceux chez comme comment dans déjà des deux donc dont elle elles entre est
        été être eux faire fait fois font hors ici ils jamais leur leurs lui mais même mes mieux moi moins mon nos
        notre nous par parce pas peu peut peux plus pour pouvez pourquoi quand que quel quelle qui quoi sans ses
        sera seulement soit son sont sous suis sur tant tel toi ton tous tout toute toutes très trop tu une vos
        votre vous veuillez aide aider assistance assistant conversation contenu contexte demande désolé désolée
        données échange effectuer excuses fournir information informations intelligence artificielle langage
        malheureusement mesure modèle message messages possible question regrette répondre requête résumé résumer
        satisfaire texte traiter utilisateur
    """,
    "Spanish": """
        algo alguna algún ante antes aquí así aún cada como con contra cual cuando cuál del desde donde dos ella
        ellas ellos entre era eran eres esa ese eso esta está estaba están estas este esto estos estoy fue fueron
        había hace hacer han has hasta hay las les los más mejor menos mis mucho muy nada ningún nos nosotros
        nuestra nuestro nunca otra otro para pero poco por porque puede puedes puedo pues que qué quien sea ser
        será sido siempre sin sino sobre solo sólo son soy también tan tanto tengo tiene todas todo todos una unas
        unos usted ustedes asistente asistencia atender ayuda ayudar ayudarle ayudarte compartir contenido contexto
        conversación cumplir datos desafortunadamente disculpa disculpas disculpe favor información inteligencia
        artificial lamento lenguaje mensaje mensajes modelo petición pregunta proporcionar responder resumen
        resumir siento solicitud texto usuario proporcione proporciona
    """,
    "Italian": """
        agli alla alle allo anche ancora che chi cioè come con cosa così dagli dal dalla dalle degli dei del della
        delle dello dopo dove due ecco era fare fatto gli hai hanno loro mai meno mia mio molto nei nel nella nelle
        noi non nostro ogni ora per perché più poi prima può puoi qualche quale quando quanto quello questa queste
        questi questo sempre senza sei sia siamo sono sta sua sul sulla suo tra troppo tua tuo tutti tutto una uno
        vi voi aiutare aiutarla aiutarti assistente assistere contenuto conversazione dati dispiace domanda fornire
        grado informazioni linguistico messaggi messaggio modello posso purtroppo riassumere riassunto richiesta
        scusa testo utente
    """,
    "Portuguese": """
        além ao aos após aqui até bem cada com como das dela dele depois desta deste deve dos ela elas ele eles
        então entre era essa esse esta está estão este estou eu fazer foi foram isso isto já lhe mais mas mesmo meu
        minha muito nas nem não nos nossa nosso num numa onde para pela pelo por porque posso pode podem que quem
        quando ser sem seu sua são sob sobre sou também tem tenho ter toda todo todos uma umas você vocês ajudar
        ajuda ajudá assistente atender conteúdo conversa dados desculpe desculpa desculpas favor fornecer
        informações infelizmente lamento linguagem mensagem mensagens pedido pergunta resumir resumo sinto
        solicitação texto usuário
    """,
    "Dutch": """
        aan alle als andere ben bij dan dat deze die dit door doen een echter eens erg geen gaan haar hadden hebben
        hebt heeft hem hen het hier hij hoe hun ieder iets ik jij jou jouw kan kunnen kunt maar meer met mij mijn
        moet naar niet nog nou onder ons onze ook over toch tot uit van veel voor was wat weer wel werd wie wij wil
        worden wordt zal zich zij zijn zou assistent excuses gebruiker gegevens gesprek helaas helpen informatie
        inhoud samenvatten samenvatting spijt tekst verzoek vraag bericht berichten
    """,
    "Polish": """
        ale aby bardzo być była był było czy dla jak jest jestem jako które który lub mnie moje może mogę nie niż
        oraz pan pani pod przez przy siebie się są tak także tego ten też tylko tym tych wszystko żeby pomóc prośba
        przepraszam niestety rozmowa rozmowy streścić podsumować podsumowanie tekst treść wiadomości informacji
        użytkownik asystent model zrobić podać przykro
    """,
    "Russian": """
        без был была были было быть вам вас ваш ваша весь во вот все всё всех где для его ещё если есть или как
        какой когда кто либо меня мне может можно мой мы над надо нас наш него нет ничего ним них но она они оно
        опять очень под после потом потому при про раз сам свой себя так также такой там тебя тем теперь того тоже
        только том тут ты уже хотя чего чем что чтобы это этого этом этот эту эта эти вы могу можете который
        которые ассистент беседа беседы выполнить данные жаль запрос извините информация информацию модель обобщить
        ответить помочь пожалуйста пользователь помощь предоставить предоставьте простите разговор разговора резюме
        сообщение сообщения сожалению текст языковая искусственный
    """,
    "Swedish, Danish and Norwegian": """
        att den det där denna detta efter eller ett från för har hade han hon inte jag kan kommer kunde med men mig
        min när och någon några också om oss sig sin ska skulle som till under upp ut utan var vara vi vid vill är
        över ikke jeg deg hvis også blir vil skal noe til på av hjälpa hjälp ledsen tyvärr beklagar hjelpe beklager
        hjælpe desværre samtal text sammanfatta
    """,
    "Finnish": """
        ei eikä en emme että hän he ja jos joka jotka kanssa koska kun kuin me mikä minä minun mitä mutta myös niin nyt
        ole olen oli olla on ovat sanoo se sen sinä sitä te tai tämä tämän vai voi voin voisin voit voitko voinko
        auttaa pahoillani valitettavasti keskustelu keskustelua teksti tiivistelmä tiivistää tapahtui virhe
    """,
    "Turkish, Indonesian and Vietnamese": """
        ama ben bir bu çok da daha değil diye gibi hem her için ile ise kadar ki olan olarak olduğu sen siz şu ve
        veya var yok üzgünüm yardımcı maalesef konuşma metin özet ada adalah akan anda atau bahwa bisa dan dapat
        dari dengan di ini itu juga kami karena ke maaf membantu saya tidak untuk yang các cho của được đã đây đó
        không là lỗi mà một này người nhưng những như rằng rất thể thì tôi trong và với xin bạn giúp hỗ trợ yêu cầu
        nội dung hata oluştu lütfen sonra tekrar deneyin
    """,
    "Greek": """
        και για από που δεν είναι στο στη στην στον την τον της του των τους μου σας μπορώ λυπάμαι αλλά ένα μια
        αυτό αυτή
    """,
    "Arabic": """
        في من على إلى عن هذا هذه ذلك التي الذي أن إن لم لن كان كما هو هي مع أو ثم قد كل بعد قبل عند أنا آسف عذرا
        لكن يمكنني أستطيع مساعدتك طلب المحادثة
    """,
    "Hebrew": """
        של את על עם לא זה זו הוא היא אני אתה אבל או גם כי אם יש אין לך לי מצטער לעזור בכך שיחה
    """,
    "Hindi": """
        में के की का को से पर है हैं था थे थी और या यह वह इस उस नहीं कि लिए एक आप मैं मुझे हम लेकिन भी कर करने सकता
        सकती मदद खेद त्रुटि हुई कृपया बाद पुनः प्रयास करें
    """,
    "Chinese": """
        抱歉对不起 我无法为您 不能帮助您 您的要求 请求这个 请提供 更多信息 内容对话会话记录 文本文字 摘要总结概括
        回答问题 可以需要 作为一个人工智能助手 语言模型 没有任何 我们你们他们 因为所以如果但是或者以及
        关于进行根据由于 非常遗憾 您可以 您是否 您需要什么 谢谢 请您 将会已经 用户助手 完成处理满足 相关的内容
        敏感涉及违反政策规定 继续讨论其他话题
        之前查看看到没有看到
    """,
    "Chinese, traditional": """
        抱歉對不起 我無法為您 不能幫助您 您的要求 請求這個 請提供 更多資訊 內容對話記錄 摘要總結 回答問題
        人工智慧助理 語言模型 沒有任何
    """,
    "Japanese": """
        申し訳ありません 申し訳ございませんが 要約する 会話内容 記録 提供 情報 質問 回答 対応 要求 依頼 言語モデル
        人工知能 手伝い 利用者 場合 必要 確認 入力 文章 テキスト
        見つかりません 要望
    """,
    "Korean, the first two syllables": """
        죄송 도와 드릴 없습 요약 대화 제공 내용 요청 정보 질문 답변 언어 모델 인공 지능 텍스 사용 어시 그러 하지
        있습 저는 이것 그것 다른 필요 가능 미안 물론 보내 주세 알려
    """,
    "Thai": """
        ขออภัย ขอโทษ เสียใจ ฉันไม่สามารถช่วยเหลือคุณได้ ในเรื่องนี้ กรุณาให้ข้อมูล บทสนทนา ข้อความ สรุป คำขอ ผู้ใช้
        ผู้ช่วย ครับ ค่ะ ทำไม่ได้ ขอโทษค่ะ ขออภัยค่ะ ขอบคุณค่ะ
    """,
}
