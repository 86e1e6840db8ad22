"""Words by which people speak of any case, and words by which they tell of one that they met. Pieces of patterns.

Three readers ask: bare.py of the clause before a quotation, sentences.py of a whole sentence around an error, around.py
of the words right before a quotation. A whole sentence says more than a clause, so the words differ; they stand here
side by side, that a word is weighed for all of them.
"""

from __future__ import annotations

import re

from kafkatx.terms.regex import regex

_MODAL = "may|might|can(?!'t\\b)|could|would|should"
"""Verbs of what is only thought of."""
_GOES_ON = "am|are|is|keeps?|start(?:s|ed)?"
_MEETING = "getting|seeing|throwing|failing"
"""`keeps failing`, `we are seeing`."""

SUPPOSED_CLAUSE = regex(
    rf"\b(?:{_MODAL}|if|whenever|will|I'll|means|for example|such as"
    r"|wenn|falls|w\u00fcrden?|k\u00f6nnten?)\b|\u5982\u679c",
    re.IGNORECASE,
)
"""What makes a clause one about what can happen."""
SUPPOSED_SENTENCE = regex(
    r"^(?:if|whenever|unless|suppose|assume|imagine|otherwise|wenn|falls|once)\b"
    r"|(?:[,;:]|\bthat|\bor|\band|\bbut) (?:if|unless|whenever|falls|wenn) "
    rf"|\b(?:{_MODAL}|shall|must|w\u00fcrde|k\u00f6nnte|sollte)\b"
    r"|\bwill (?:be|get|receive|fail|see|throw|return|raise|answer|then)\b|^will\b"
    r"|^(?:\*\*[^*]{1,40}\*\*\W*)?(?:an?|any|each|every) (?:\w+ )?(?:producer|client|consumer|application|broker|leader"
    r"|send|commit) (?:\w+ )?(?:fails?|gets?|receives?|sees?|throws?|answers?|refuses?|is (?:answered|refused|told))\b"
    r"|(?:^|[;:,] )any (?:older|earlier|later|further|subsequent) (?:\w+ ){0,2}?(?:producer|client|instance"
    r"|writes?|requests?|attempts?|calls?)\b"
    r"|^previously, (?!.*\b(?:now|but|work(?:s|ed)|fine)\b)"
    r"|^(?:do not|don't|never|always|make sure|be sure|remember|note that)\b|\bwithout (?:it|them|this|that|these)\b"
    r"|如果|假如|倘若|有时|可能|应当|应该|不要|会(?:得到|收到|看到|抛出|返回|出现)"
    r"|(?:な|け|れ)れば|場合(?:は|に|には|、)|(?:投げられ|スローされ|返され|発生し)(?:る|ます)|かもしれ"
    r"|경우(?:에|에는|,| )|(?:하|되|이)면 |\b(?:pode|podem|puede|pueden)\b"
    r"|\b\u0435\u0441\u043b\u0438\b|\b\u043c\u043e(?:\u0436\u0435\u0442|\u0433\u0443\u0442)\b",
    re.IGNORECASE,
)
"""What makes a sentence one about any case."""
IS_CONDITION = regex(
    r"(?:^|[,;:(] ?|\b(?:and|or|but) )(?:if|whenever|once|in case) (?:(?:we|I|you|it|they|one|somebody|the \w+) )"
    r"(?:ever |do |does )?(?:get|see|receive|hit|catch|meet|encounter|run into)(?:s|es)? (?:an? |the |this )?[\"'`]?X",
    re.IGNORECASE,
)
"""The error (X) is the condition and not what came of one: a rule, whoever is meant by it."""
DEFINING = regex(
    r"\bwhat (?:exactly |precisely )?(?:does|is|do|are)\b.{0,80}\b(?:mean|for|about|between)\b"
    r"|\b(?:is|was) what (?:the|a|you|clients?)\b|\b(?:means?|indicates?|signals?|stands for)\b"
    r"|\binstead of (?:surfac|throw|rais)"
    r"|\bmaps? (?:it |this |that |them )?(?:to|onto)\b|\bshows? it as\b|\bsurfaces? (?:it )?as\b"
    r"|\bclients (?:print|show|call)\b|\bsubclass(?:es)? of\b|\bprints out the following\b"
    r"|\bX\)?[`\"]? (?:is|are) (?:(?:not|now|always|never) )?(?:retriable|retryable|abortable)\b"
    r"|\b(?:javadocs?|docs?|documentation|manual|KIP|spec(?:ification)?) (?:says?|states?|describes?|calls?)\b"
    r"|\bthe difference between\b|\bwhen is it (?:thrown|raised)\b|\b(?:is|are) (?:thrown|raised|returned"
    r"|answered) (?:if|whenever|by)\b"
    r"|\brecovers? from\b|\b(?:treat|catch|handle|expect|ignore|swallow)(?:s|es|ing)? (?:a |an |the "
    r"|only )?[`\"]?(?=[A-Z])"
    r"|\bno longer (?:throws?|raises?|fails?|logs?)\b|\bis now (?:logged|thrown|raised|treated|returned|retried"
    r"|handled)\b",
    re.IGNORECASE,
)
"""What makes it one about what an error means, or what programs do with it."""
MEANS = ("indicates", "means", "signals")
OF_MEANING = regex(
    r"\b(?:this|the|that) (?:\w+ )?(?:exception|error(?: code)?) (?:indicates|means|signals)\b",
    re.IGNORECASE,
)
"""What a sentence says that tells the meaning of an error, whatever it says that the broker received."""
OF_PEOPLE = regex(
    r"\b(?:I|I'm|I've|we|we're|we've|my|mine|our|ours|us|yesterday|today)\b|\bafter (?:the )?(?:upgrade|restart)\b",
    re.IGNORECASE,
)
"""What says in it that it is somebody's own."""
ASKED = regex(
    r"^(?:\w{2,20}: )?(?:can|could|should|would|will|may|does|do|is|are|why would|why does"
    r"|what (?:if|does|happens|is)|when (?:is|does))\b",
    re.IGNORECASE,
)
"""How a question about any case begins."""
HAPPENED_IN_CLAUSE = regex(
    r"(?<!will )(?<!would )(?<!could )(?<!should )(?<!can )(?<!may )(?<!might )(?<!if )\b(?:I|we|you|it) (?:get|see)\b"
    rf"|\b(?:I'm|we're|{_GOES_ON}) (?:\w+ )?(?:{_MEETING})\b"
    r"|\b(?:got|gets|saw|sees|received|threw|failed|fails with|ended with|died|crashed|happened)\b",
    re.IGNORECASE,
)
"""What says in a clause that it was met."""
MET_IN_SENTENCE = regex(
    r"\b(?:I|we)\b(?! (?:should|would|could|can|might|may|must|will|think|like|know|read|want|wonder))"
    r"|\b(?:my|mine|our|ours|ich|wir|unsere?\w?|meine?\w?)\b|\b(?:I'm|we're|I've|we've)\b"
    r"|\b(?:got|saw|received|threw|thrown after|failed|died|crashed|happened|occurred|logged the|ended with"
    r"|stopped with|killed)\b"
    rf"|\b(?:{_GOES_ON}|been) (?:\w+ )?(?:{_MEETING}|crashing|dying)\b"
    r"|\b(?:yesterday|today|[Cc]urrently|last (?:night|week)|since (?:the|we|monday|upgrad)|this morning"
    r"|after (?:the )?(?:upgrade|upgrading|update|restart))\b"
    r"|(?:発生し|出|投げられ|なり)ました|出ています|困って|(?:발생했|났|떴|나왔|터졌)(?:다|습니다|어요|음)|뜹니다|납니다"
    r"|\b\u043f\u043e\u043b\u0443\u0447\u0430\w+|\b\u0443\u043f\u0430\u043b\w*|\b\u0443 \u043d\u0430\u0441\b"
    r"|\b\u0432\u0447\u0435\u0440\u0430\b|\b\u043f\u0430\u0434\u0430\u0435\u0442\b"
    r"|\b(?:recebemos|recebi|ocorreu|caiu|ontem|nosso|nuestro|recibimos|obtengo)\b"
    r"|我|咱|遇到|报错|出错|出现了|发生了|抛出了|收到了|失败了|昨天|今天|最近|突然|线上|升级(?:之|以)?后|重启(?:之|以)?后"
)
"""What somebody says who met an error."""
MET_BEFORE_QUOTATION = regex(
    r"\b(?:get|gets|getting|got|see|sees|seeing|saw|receives?|received|threw|throws|fail(?:s|ed|ing)?|dies|died|crash\w*|"
    r"(?:always|still|now|only) returns?(?: an?| the)? errors?|"
    r"stopped|logs?|shows?|says?|with|reports?)\b[^.;!?]{0,60}$|(?:Fehler|error|erreur|erro|errore|bekomm\w+|ошибк\w+)\b"
    r"[^.;!?]{0,40}$|[\u62a5\u62cb\u51fa\u9519\u7570\u5f02]|\u30a8\u30e9\u30fc|\u4f8b\u5916|\uc624\ub958",
    re.IGNORECASE,
)
"""Words for having met an error, before a quotation of it: English, German, Romance and Slavic, Chinese and so on."""
