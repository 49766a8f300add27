"""Words that tell nothing of a conversation: of all sentences, of requests and of refusals, in a few large languages.

One that is missing makes an answer count as one about the conversation, so what is not listed is let through. Words are
compared by five letters: one of up to four letters does not cover its other forms.
"""

from __future__ import annotations

from typing import Final

COMMON_WORDS: Final = """
about after again all also although always and another any anything are because been before being between both but can
cannot could did does doing done each either else even every few for from further get give going had has have her here
him his how however into its just last least less let like made make many may maybe might more most much must need
never new next not nothing now off often once one only other our out over part perhaps please rather really same say
see shall she should since some someone something still such take than thank that the their them then there these they
thing this those through too two under until upon use very want was way well were what when where whether which while
who whom why will with without would yes yet you your isn don didn doesn wasn won haven able access allow answer
apologies apologize appear appropriate ask assist attached available basis clarify comfortable comply concern
confidential contain content context continue conversation create data decline detail discuss document empty engage
enough error explain fail feel follow fulfil glad guideline happy harmful hear hello help include inform input instead
instruct keep kind know language later like likely look material message missing model openai paste perform personal
point policies policy possible prefer present prevent privacy private problem proceed process professional program
prompt protect provide purpose question read ready receive record refer refuse regard related remain request require
respond response review right rule safe send sensitive sent share situation sorry specific start sufficient suitable
summary support sure system task tell text topic transcript type unable understand unfortunately user view violate
welcome wish word work write written wrong complete full incomplete internal limit mind moment notice server asked
asking used using users wants needs works told given having

aber als auch auf aus bei bin bitte daher dann das dass dem den der des die dies doch durch ein für habe haben hat
hier ich ihm ihn ihnen ihr ist jetzt kann kein können man mehr mein mich mir mit nach nicht noch nur oder ohne sehr
sein sich sie sind und uns von war was wenn werden wie wir wird wurde zum zur anfrage antwort darf daten
entschuldigung fehler frage geben gespräch helfen informationen inhalt leid leider nachricht text teilen
zusammenfassen

avec avez aux car cela ces cet cette comme dans des donc est être faire les leur mais mes mon nos notre nous par pas
peux plus pour pouvez que qui sans ses son sont suis sur tout très une vos votre vous veuillez aider demande désolé
données malheureusement répondre réponse résumer texte algo como con del desde donde ese eso esta este esto hay las
los más muy nada para pero por porque puede puedo que ser sin sobre soy también tengo tiene una usted ayudar favor
información lamento respuesta siento solicitud texto até cada dos ela ele isso isto mas meu muito não num pela pelo
pode posso sem seu são tem tenho uma você ajudar desculpe infelizmente informações pedido sinto che chi con cosa del
della gli hai mia mio molto nel non per più può questo sono sua suo una aiutare dispiace posso purtroppo richiesta

был вам вас вот все для его если есть или как мне может мой нас нет она они оно при про так также только тоже уже что
чтобы это этого этот извините запрос информации могу помочь пожалуйста разговор сожалению текст 抱歉对不起 我无法为您
不能帮助您 您的要求 这个请求 请提供 更多信息 内容对话记录 文本文字 摘要总结 回答问题 作为一个人工智能助手 语言模型
没有任何 我们你们他们 因为所以如果但是或者以及 关于由于 非常遗憾 谢谢 将会已经 用户 申し訳ありません
申し訳ございませんが 要約する 会話内容 記録 提供 情報 質問 回答 対応 要求 依頼 手伝い 利用者 場合 必要 確認 入力
見つかりません 要望
"""
