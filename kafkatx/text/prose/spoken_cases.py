"""Sentences that say that something of transactions failed, in words that nobody foresaw: asked last of all.

Somebody writes `rollback never reaches the broker` or `the sink is dead since the second checkpoint`: no error is
named, no symptom of the table (terms/catalogue/symptoms.tsv) fits. Such a text must not end in silence either.
Rule    A sentence counts that says that something failed and that tells of one case: it speaks of no other one, and is
        somebody's own, of the past, of what was seen, or of a report by its headings. It, or one beside it, names what
        transactions are made of; on a page without a word of them, Kafka. What is denied, promised or solved, and what
        a program or a shell holds, counts nothing. A sentence may be written on several lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafkatx.terms.regex import regex
from kafkatx.text.framed_pages import FramedPage
from kafkatx.text.logs.sentences import Sentence, is_of_any_case
from kafkatx.text.logs.stamps import TIMED

MOST_DOTS = 3
"""Dots in the name of a class with its package, that no word of a sentence has."""
_FAILS = regex(
    r"\b(?:fail(?:s|ed|ing|ures?)?|errors?|exceptions?|crash(?:e[sd]|ing)?|die[sd]|dead|broken|breaks|broke|stuck"
    r"|hang(?:s|ing)?|hung|freezes|frozen?|block(?:s|ed)|times out|timed[- ]out|unable|cannot|can't|couldn't|won't"
    r"|(?:does|do|did|is|are|was|were)(?:n't|nt| not)|not (?:work|get|enter|reach|see|receiv)\w*|never|lost|loses"
    r"|losing|missing|dropped|vanish\w*|disappear\w*|duplicate[sd]?|duplicat(?:ion|ing)|twice|a second time"
    r"|refused|rejected|only \d+ (?:out )?of|invisible"
    r"|\w+(?:error|exception)|kill(?:s|ed)|undefined|leak(?:s|ed)?|out of memory|OOM|but not|despite|even though"
    r"|still\b.{1,80}\beven (?:if|when|after)|denied|fenced|corrupt\w*|wrong(?:ly)?|bug|problems?|issues?|trouble"
    r"|unfortunately|even (?:tx|transaction)|(?:rolled back|aborted),? (?:but|yet)"
    r"|(?:should|must)(?: not|n't) (?:be|have|get)"
    r"|[Ff]ehler|schl\u00e4gt|fehlgeschlagen|h\u00e4ngt|verloren|doppelt|(?:geht|funktioniert|l\u00e4uft) nicht"
    r"|erreur|\u00e9chou\w+|plante|bloqu\w+|perdus?|marche pas|fonctionne pas|err(?:o|or|ore)|fall[ao]s?|falhas?"
    r"|falhou|fallisce|no funciona|n\u00e3o funciona|cuelga|trava|travou|duplicad\w+|perdid\w+|b\u0142\u0105d|hata)\b"
    r"|\u0448\u0438\u0431\u043a|\u0437\u0430\u0432\u0438\u0441|\u0441\u0431\u043e\u0439"
    r"|\u043f\u0430\u0434\u0430\u0435"
    r"|\u0443\u043f\u0430\u043b|\u043d\u0435 \u0440\u0430\u0431\u043e\u0442|\u0434\u0443\u0431\u043b\u0438"
    r"|\u043f\u043e\u0442\u0435\u0440"
    r"|报错|失败|异常|超时|卡住|卡死|丢失|重复|无法|出错|错误"
    r"|エラー|失敗|例外|重複|止ま|できません|できない"
    r"|오류|에러|실패|예외|중복|유실|멈추|멈췄"
    r"|l\u1ed7i|th\u1ea5t b\u1ea1i|b\u1ecb treo"
    r"|\b(?:kommt|kommen|startet|liest|sendet) (?:\w+ ){0,3}nicht"
    r"|\b(?:bekommt|erh\u00e4lt) (?:\w+ ){0,3}(?:keine|nichts)\b"
    r"|\bbricht ab\b|\bst\u00fcrzt\b|\bno (?:llegan?|recibe|lee|arranca|env\u00eda)\b|\bse cae\b"
    r"|\bn\u00e3o (?:chegam?|recebe|l\u00ea|sobe|envia)\b|\bcaiu\b"
    r"|\bne (?:re\u00e7oit|lit|d\u00e9marre|r\u00e9pond) (?:plus|pas|rien)\b"
    r"|发不出|收不到|消费不到|读不到|起不来|届かな|届きません|動かな|動きません|안 ?됩니다|안 ?돼|못 ?(?:읽|받|보)"
    r"|\u043d\u0435 (?:\u043f\u0440\u0438\u0445\u043e\u0434|\u0434\u043e\u0445\u043e\u0434"
    r"|\u043f\u043e\u043b\u0443\u0447\u0430|\u0447\u0438\u0442\u0430"
    r"|\u043e\u0442\u043f\u0440\u0430\u0432\u043b|\u0443\u0445\u043e\u0434|\u043f\u0440\u043e\u0438\u0441\u0445\u043e\u0434)"
    r"|\b(?:dying|always abort\w*|lag\b.{0,40}\b(?:grow(?:s|ing)?|increas\w+|ris(?:es|ing))"
    r"|stop(?:s|ped) (?:during|without|working|consuming|producing|sending|receiving|responding)"
    r"|abgebrochen|nichts mehr|\w+m[\u0131iu\u00fc]yor\w*|tak\u0131l\u0131yor"
    r"|not able to|inability|expire[sd]?|inadvertently|erroneously|blindly|mistakenly|by mistake|re-?sends? all"
    r"|rather th[ae]n (?:what|where|from)|becom(?:es?|ing) (?:idle|inactive|unresponsive)|(?:far )?too far"
    r"|skip(?:s|ped)? (?:the |some |all |over )*(?:records?|messages?|events?|offsets?)"
    r"|(?:should|must)(?: not|n't) (?:wait|block|hang|throw|fail|drop|lose)"
    r"|(?:a?wait|block|loop|retr)\w* (?:for ?ever|endless\w*)"
    r"|(?:experienc\w+|continu\w+|keep\w*|get\w*|got|see\w*|saw)(?: an?| the| many| constant)? [\"'`]?time-?outs?)\b",
    re.IGNORECASE,
)
"""Words of failure, in the languages in which people ask."""
_FINE = regex(
    r"\b(?:no|without(?: any)?|zero|0) (?:more |such |further )?"
    r"(?:errors?|exceptions?|failures?|problems?|issues?|duplicates?)\b"
    r"|\b(?:error|exception|failure)[- ]"
    r"(?:handl\w+|handlers?|codes?|cases?|types?|class\w*|callbacks?|injection|mode)\b"
    r"|\bfail(?:s|ed)?[- ](?:over|fast)\b"
    r"|\b(?:can(?:not|'t)|could not|couldn't) (?:afford|risk|tolerate|accept)\b"
    r"|\bnothing (?:has |was |is |went )?(?:failed|fails|lost|wrong|crashed|broke\w*)\b"
    r"|\b(?:this|that|it) (?:is|was) (?:not|n't) (?:an? )?(?:problem|issue|bug)\b"
    r"|\bdo not (?:use|set|call|share|forget)\b|\bbug ?fix(?:es)?\b|\bissues?/\d"
    r"|\b(?:see|open|file|raise|this|related) (?:an? )?issues?\b"
    r"|\b(?:do|does|did)(?:n't| not) (?:understand|know) (?:what|how|which|whether|when)\b"
    r"|\b(?:do|does|did|can)(?:n't|not| not) (?:see|find) .{1,80}?\bin (?:the|your|any|its) "
    r"(?:code|docs?|documentation|sources?|manual|javadocs?|readme)\b"
    r"|\b(?:do|does)(?:n't| not) (?:yet )?(?:have support|enforce|provide|offer|expose|implement)\b"
    r"|\bwhich (?:I|we) can(?:not|'t) (?:do|use|have)\b"
    r"|\b(?:issues?|problems?|challenges?) (?:that )?we (?:have )?(?:faced|solved)\b|\bproblems? to solve\b"
    r"|\bthan an? (?:duplicate|failure|error|loss)\b",
    re.IGNORECASE,
)
"""What went well, or is only the name of a thing."""
_SEEN_THAT = r"(?:I|we|you) can (?:\w+ )?see\b.{1,160}\b(?:still|even (?:if|though|when)|but not|twice)"
_OF_ONE = regex(
    r"\b(?:I|I'm|I've|my|mine)\b(?! (?:think|guess|suggest|propose|recommend)\b)"
    r"|\bwe(?:'ve| have| had| are|'re)? (?:\w+ )?"
    r"(?:\w+ed|get|see|saw|got|ran|run|hit|found|seeing|getting|running|facing|using)\b|\b(?:our|us)\b"
    r"|\b(?:sometimes|occasionally|randomly|intermittent\w*|constantly|suddenly|sporadic\w*|every few"
    r"|after (?:a few|some|a while|several|about|\d+)|previously|again and again|over and over|indefinitely"
    r"|for ?ever|still|always|at all|any ?more|yesterday|today)\b"
    r"|\b(?:(?:it )?(?:seems?|appears?|looks) (?:like|that|to)|appear to|apparently|unexpected\w*|strange\w*"
    r"|weird\w*|unfortunately)\b"
    r"|\bthe (?:issue|problem|bug|error) (?:happens|occurs|appears|shows)\b"
    r"|^\W*[\w.:]+(?:Error|Exception): "
    r"|\b(?:following|this|same|below) (?:errors?|exceptions?|problem|issue|bug|stack ?trace)\b"
    r"|\b(?:how (?:can|do|to)|why|help)\b.*\?"
    r"|^\W*(?:reason|error|exception|failure|issue|problem|symptom|result|actual|observed|bug)s?"
    r"(?: of| behaviou?r| result| error)?\b[\w ]{0,20}:"
    r"|\bich\b|\b(?:uns|wir|unsere?\w?|meine?\w?|nous|notre|nos|mon|nosso|nossa|nuestr\w+|mi|meu|minha)\b"
    r"|\b(?:manchmal|pl\u00f6tzlich|st\u00e4ndig|immer wieder|seit (?:gestern|heute|dem|der|wir)"
    r"|parfois|soudain\w*|depuis|a veces|de repente|desde (?:que|ayer|hace|ontem|a|el)|\u00e0s vezes|ogni tanto)\b"
    r"|\bsince (?:(?:two|three|four|a few|some|several|\d+) (?:\w+ )?(?:minutes|hours|days|weeks|months)|last \w+)\b"
    r"|\bafter (?!(?:an?|any|each|every) )(?:[\w-]+ ){0,2}(?:restart|upgrade|failover|crash)\b"
    r"|\bnach (?:dem|einem) (?:Neustart|Update|Upgrade|Absturz)\b|\bmuss\w* .{0,20}neu ?gestartet"
    r"|\bnach \d+ ?(?:s|sek\w*|min\w*|h|stunden)\b|\bau bout d(?:e |['\u2019])|\w[\u0131iu\u00fc]yor(?:u[mz]|lar)?\b"
    r"|\bafter (?:(?:[\w-]+ ){0,4}?(?:restarted|crashed|died|upgraded|failed over)|error|exception|crash|timeout)\b"
    rf"|{_SEEN_THAT}|\b(?:users|customers|people|operators) (?:have |had )?(?:observed?|noticed|reported)\b"
    r"|\b(?:inadvertently|erroneously|blindly|mistakenly|by mistake)\b"
    r"|\u0441\u0442\u0430\u043b\u043a\u0438\u0432\u0430\u043b"
    r"|重启\S{0,12}[会后就]|[我咱]|遇到|求助|怎么|为什么|线上|有时候?|偶尔|突然|经常|昨天|今天|現在|時々|突然|たまに|困っ"
    r"|ました|ますか|下さい|でしょうか|ています"
    r"|저희|제가|나요|습니다|가끔|갑자기|계속"
    r"|\b(?:иногда|вдруг|внезапно|периодически|постоянно|вчера|сегодня|после того,? как)\b"
    r"|\u0443 \u043d\u0430\u0441|\u0443 \u043c\u0435\u043d\u044f|\u043f\u043e\u0447\u0435\u043c\u0443",
    re.IGNORECASE,
)
"""What makes a sentence one about a case that somebody saw."""
_OF_PAST = regex(
    r"\b(?:failed|crashed|died|broke|hung|timed out|was fenced|(?:is|are) hanging|got stuck"
    r"|(?:was|were) (?:lost|missing|duplicated|dropped))\b(?!-)",
    re.IGNORECASE,
)
"""What does so where the sentence itself names what transactions are made of."""
_TITLE = regex(
    r"^(?!(?:\W|\d)*(?:how|what|why|where|which|alert|detect|test|verify|\w+ing)\b).*"
    r"\b(?:never (?:completes?|returns?|ends?|arrives?|comes? back|recovers?|finish\w*)|hangs|freezes|crashes|dies"
    r"|loses|blocks for ?ever|stuck (?:in|at|on|after|when)|stops (?:during|after|when|without|\w+ing)"
    r"|(?:is|are|gets?) (?:lost|duplicated|dropped|stuck)"
    r"|(?:does|do|is|are)(?: not|n't) (?:work|recover|return|reach)\w*"
    r"|fails (?:with|on|after|when|to))\b",
    re.IGNORECASE,
)
"""What fails in the first line of a page, as the title of a report; documentation has no such verbs there."""
_SEEN = regex(
    r"\b(?:(?:it )?(?:seems?|appears?|looks) (?:like|that|to)|appear to|apparently|sometimes|occasionally"
    rf"|inadvertently|erroneously|blindly|mistakenly|by mistake|{_SEEN_THAT}"
    r"|randomly|manchmal|parfois|a veces|\u00e0s vezes"
    r"|\u0438\u043d\u043e\u0433\u0434\u0430)\b|有时候?|偶尔|時々|たまに|가끔",
    re.IGNORECASE,
)
"""What is said of what was seen, in whatever mood the sentence goes on."""
_EXPECTED = regex(
    r"\bI (?:think|believe|(?:would |had )?expect(?:ed)?)\b.{1,160}\b(?:should|must|to)\b"
    r"|\b(?:\w*[a-z](?-i:[A-Z])\w+|\w+_\w+)(?:\(\))? should(?: not|n't) (?:a?wait|block|hang) "
    r"(?:endless\w*|for ?ever|indefinitely|infinitely)",
    re.IGNORECASE,
)
"""Whoever says what he expected did not see it."""
_OTHER = regex(
    r"^(?:\W|\d)*(?:if|when(?:ever)?|unless|in case|to (?:avoid|prevent|ensure|handle|fix|solve)|make sure|ensure"
    r"|note|remember|never|always|(?:do not|don't)|add(?:s|ed)?|fix(?:e[sd])?|imagine|suppose)\b",
    re.IGNORECASE,
)
"""How a sentence begins that speaks of any case, where nothing says that it was seen."""
_STAMP = regex(TIMED)
"""Beside a log that a program printed, what fails is the case of who pasted it; a line with a time is no sentence."""
_OF_CODE = regex(
    r"(?:the|this) (?:code|method|function|check|logic|implementation|test|patch|PR) (?:assumes?|expects?"
    r"|checks?|handles?|verifies|covers?|adds?)\b",
    re.IGNORECASE,
)
"""How one begins that reviews what a program does."""
_PERSON = regex(r"\bI\b|\b(?:my|we|our|following)\b")
_PROMISED = regex(r"\b(?:ensur|guarante|prevent|avoid|protect)\w*|\bmak(?:es?|ing) sure\b|\bso that\b", re.IGNORECASE)
"""What a program promises: what it names does not happen."""
_SOLVED = regex(r"\b(?:fixed|solved|resolved|works? (?:again|now|fine)|no longer)\b", re.IGNORECASE)
_SOLVED_IT = regex(
    r"\b(?:I|we)(?:'ve| have| had)? (?:\w+ ){0,2}?(?:solved|fixed|resolved)"
    r" (?:it|this|that|my|our|the (?:problem|issue))\b"
    r"|\b(?:problem|issue|bug) (?:is|was|has been|got|seems) (?:\w+ )?(?:solved|fixed|resolved|gone)\b"
    r"|\b(?:solved|fixed) (?:it|my problem|the problem|the issue)\b"
    r"|\b(?:it|everything|all) works (?:again|fine now|now)\b"
    r"|\bProblem (?:ist |wurde )?(?:gel\u00f6st|behoben)"
    r"|\bprobl[e\u00e8]m[ea] (?:est |est\u00e1 |fue |foi )?(?:r\u00e9solu|resuelto|resolvido|solucionado)"
    r"|解决了|已解决|解決しました|해결(?:했|됐|되었|하였)|проблем\w* решен|решил\w* проблем",
    re.IGNORECASE,
)
"""How somebody says that what he tells of is over."""
_OVER = (
    "solved", "fixed", "resol", " gone", " works ", "gel\u00f6st", "behoben", "r\u00e9solu", "resuelto", "solucionado",
    "\u89e3\u51b3", "\u89e3\u6c7a", "\ud574\uacb0", "\u0440\u0435\u0448",
)  # fmt: skip
"""Of which one stands in every such sentence, in small letters."""
_UNSOLVED = regex(r"\b(?:not|never|still)\b|n't\b", re.IGNORECASE)
_UNABLE = regex(r"\b(?:can|could|will|would)(?:n't| ?not)\b|\bcan't\b|\bwon't\b", re.IGNORECASE)
"""What is no mood, other than `can` and `would`."""
_LAG_OF_ONE = regex(
    r"\blag\b(?:[:=]? ?| .{0,60}\b(?:by|of|is|be|as|to|stays?|at) (?:always |exactly |only )?)(?:1|one)\b"
    r"(?! (?:partition|consumer|broker|topic|of|minute|hour|day|million)s?\b)",
    re.IGNORECASE,
)
"""A lag of one behind a transaction is its marker, and no failure."""
_OF_MARKER = regex(r"\b(?:lag|control (?:messages?|records?|batch\w*))\b", re.IGNORECASE)
"""What a sentence beside one about such a lag speaks of, if it is about the same."""
_REPORT = regex(
    r"\W*(?:describe the (?:bug|issue|problem)|bug report|(?:steps )?to reproduce|how to reproduce"
    r"|(?:expected|actual|current)(?: behaviou?r| results?|(?=\W*$))|what (?:happened|went wrong)"
    r"|what (?:did|do) you (?:do|expect|see)|issue description)\b"
    r"|[\w .*`\[\]/-]{0,30}(?:\bversions?\b|版本号?|バージョン|버전|\bversi[o\u00f3]n\b|\bvers\u00e3o\b"
    r"|\b\u0432\u0435\u0440\u0441\u0438\u044f\b)[\w .*`()/-]{0,40}[:\uff1a ]\s*[`*]*(?:\w{1,20} )?v?\d+\.\d",
    re.IGNORECASE,
)
"""A heading of a report of a case, or the release that its author runs."""
_TRIED = regex(
    r"\b(?:I|we)(?:'m|'re|'ve| am| are| have| had)? (?:\w+ly )?(?:created|tried|trying|using|run|running"
    r"|set up|started"
    r"|testing|configured|deployed|upgraded|moved|built|have a)\b"
    r"|\b(?:any(?:one|body)|some(?:one|body)) (?:else )?(?:\w+ )?(?:seen|faced|facing|had|met|experienc\w+|run into)\b"
    r"|\u043a\u0442\u043e-(?:\u0442\u043e|\u043d\u0438\u0431\u0443\u0434\u044c) "
    r"\u0441\u0442\u0430\u043b\u043a\u0438\u0432\u0430\u043b",
    re.IGNORECASE,
)
"""What somebody did himself: what fails on such a page is his case."""
_WHAT = regex(
    r"transa[ck\u00e7z]|exactly[- _]once|read[-_ ]?committed|idempot|\beos\b|\btxn?s?\b|\bLSO\b|last stable offset"
    r"|\bproducers?[ _.-]?(?:ids?|epochs?|sessions?|fenc\w+)\b|\bcoordinators?\b|\bfenc(?:ed|ing)\b"
    r"|事务|事務|精确一次|트랜잭션|トランザクション|\u0442\u0440\u0430\u043d\u0437\u0430\u043a\u0446"
    r"|giao d\u1ecbch",
    re.IGNORECASE,
)
"""What transactions are made of."""
_KAFKA = regex(
    r"kafka|producer|consumer|transactional[._]?id|\bbrokers?\b|\boffsets?\b|\btopics?\b|exactly[- _]once"
    r"|read[-_ ]?committed|ブローカー|브로커|брокер",
    re.IGNORECASE,
)
_NAMED = regex(
    r"kafka|redpanda|event ?hubs?\b|\bMSK\b|warpstream|automq|franz-go|\bsarama\b"
    r"|\u043a\u0430\u0444\u043a|\u5361\u592b\u5361|\u30ab\u30d5\u30ab|\uce74\ud504\uce74",
    re.IGNORECASE,
)
_OF_KAFKA = regex(rf"{_NAMED.pattern}|\bbrokers?\b|producer\b|consumer\b", re.IGNORECASE)
"""What is Kafka's, on a page that names it."""
_TOPICS = regex(r"\btopics?\b|\boffsets?\b|\bconsumer (?:groups?|lag)\b", re.IGNORECASE)
_PARTS = regex(r"\b(?:partitions?|replicas?|offsets?|consumer (?:groups?|lag)|read_(?:un)?committed)\b", re.IGNORECASE)
_ENDS = regex(r"producers?\b|consumers?\b", re.IGNORECASE)
_OTHERS = regex(
    r"pulsar|rabbit|activemq|artemis|\bjms\b|\bnats\b|\bs[nq]s\b|pub/?sub|kinesis|rocketmq|mqtt|\bamqp\b|\bdds\b|\bros2?\b",
    re.IGNORECASE,
)
"""Who writes of topics with partitions and of their producers, and names no other system, need not name Kafka."""


def spoken_cases(page: FramedPage, *, is_about_transactions: bool) -> Iterator[Sentence]:
    """Yield sentences of a page that tell of a failure."""
    if not any(page.is_own(line) and _may_tell(line.text) for line in page.lines):
        return
    theirs, what = (_KAFKA, _WHAT) if is_about_transactions else (_NAMED, _OF_KAFKA)
    if not (any(theirs.search(line.text) for line in page.lines) or _speaks_of_topics(page)):
        return
    sentences = page.sentences
    is_report = any(_REPORT.match(line.text) for line in page.lines)
    is_own = is_report or any(_TRIED.search(one.text) for one in sentences)
    has_log = not is_own and any(_STAMP.search(line.text) and not page.is_own(line) for line in page.lines)
    for number, one in enumerate(sentences):
        near = " ".join(other.text for other in sentences[max(0, number - 1) : number + 2])
        is_named = what.search(one.text) is not None
        is_title = number == 0 and _TITLE.search(one.text) is not None and one.text.count(".") <= 1
        is_theirs = is_own or is_title or (has_log and _STAMP.search(one.text) is None)
        is_told = tells_of_failure(one.text, is_named=is_named, is_report=is_report, is_own=is_theirs)
        if is_told and what.search(near) and not (_LAG_OF_ONE.search(near) and _OF_MARKER.search(one.text)):
            yield one


def _speaks_of_topics(page: FramedPage) -> bool:
    """Whether a page that does not name Kafka speaks of what only Kafka has."""
    text = "\n".join(line.text for line in page.lines)
    return all(one.search(text) for one in (_TOPICS, _PARTS, _ENDS)) and _OTHERS.search(text) is None


def where_it_fails(sentence: str) -> int:
    """Where a sentence says that something failed (0: nowhere)."""
    found = _FAILS.search(sentence)
    return found.start() if found is not None else 0


def says_solved(text: str) -> bool:
    """Whether a line says that what its page tells of is over, and takes nothing of that back."""
    small = text.lower()
    if not any(one in small for one in _OVER):
        return False
    return _SOLVED_IT.search(text) is not None and not (_UNSOLVED.search(text) or "?" in text or _OTHER.match(text))


def _may_tell(text: str) -> bool:
    """Whether a line may be of such a sentence: no setting with its value, and no class with its package before it."""
    words = text.split(maxsplit=2)
    is_value = words[1:2] == ["="] or not words or words[0].count(".") >= MOST_DOTS
    return not is_value and _FAILS.search(text) is not None


def tells_of_failure(sentence: str, *, is_named: bool = True, is_report: bool = False, is_own: bool = False) -> bool:
    """Whether a sentence tells of what failed, or went otherwise than was expected, in one case.

    `is_named` whether it names what failed itself, `is_report` whether it is one of a report, `is_own` whether the page
    is about what its author did.
    """
    if _EXPECTED.search(sentence):
        return True
    if _FAILS.search(without_what_went_well(sentence)) is None or _LAG_OF_ONE.search(sentence):
        return False
    if _is_of_other_cases(sentence, is_report=is_report):
        return False
    is_of_seen = is_report or is_own or _OF_PAST.search(sentence) is not None
    return _OF_ONE.search(sentence) is not None or (is_of_seen and is_named)


def without_what_went_well(sentence: str) -> str:
    """A sentence without the words that say that nothing of the kind happened, or that only name a thing."""
    return _FINE.sub(" ", sentence)


def _is_of_other_cases(sentence: str, *, is_report: bool) -> bool:
    """Whether a sentence speaks of what is over, of what a program promises, or of any case."""
    if _SOLVED.search(sentence) and not _UNSOLVED.search(sentence):
        return True
    if sentence.lower().startswith(("the ", "this ")) and _OF_CODE.match(sentence):
        return True
    if not _PERSON.search(sentence) and (_OTHER.match(sentence) or _PROMISED.search(sentence)):
        return True
    return not (is_report or _SEEN.search(sentence)) and is_of_any_case(_UNABLE.sub("fails to", sentence))
