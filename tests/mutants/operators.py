# SPDX-License-Identifier: BSL-1.0
"""The mutants of a header: one small change each, at every place where code computes.

Types, shapes and their rules are left alone: changing them gives no other formula, but a program that does not compile.
The headers are formatted by clang-format, and that is made use of: a binary operator stands between two spaces, and the `<`
of a template's arguments behind its name.
"""

import re
from collections import Counter, namedtuple

# key: what equivalent.txt names a mutant by. source: the whole header, changed.
Mutant = namedtuple("Mutant", "file line column operator change text key source")

NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)
# A line that says so is there for the compiler alone: in front of it a static_assert has failed.
NEVER_RUN = re.compile(r"^[^\n]*// the compiler has spoken[^\n]*", re.M)

ENUMERATORS = ["empty_row::zero empty_row::nan", "norm_position::post norm_position::pre",
               "activation_kind::relu activation_kind::gelu", "gelu_form::erf gelu_form::tanh gelu_form::sigmoid",
               "rope_pairing::interleaved rope_pairing::half",
               "eps_placement::variance eps_placement::std", "variance_kind::biased variance_kind::unbiased"]
SIBLINGS = ["attest::sin attest::cos", "sine cosine", ".norm3, .norm2,", ".norm1, .norm2,", ".gamma .beta", "scaled shifted",
            ".root .divisor", "self_how cross_how", ".n_heads .n_kv_heads", ".k .v", ".w_k .w_v", ".b_k .b_v", "of_k of_v",
            "first. second.", "above below"]


def in_turn(rows):
    """Each word of a row becomes the next one, and the last the first."""
    return {word: row.split()[(n + 1) % len(row.split())] for row in rows for n, word in enumerate(row.split())}


def used(word):
    """A pattern of the word where it is used, not where it is declared, nor as a part of another."""
    before = r"(?<!\w)(?<!& )(?<!::)" if word[0] != "." else ""
    return before + re.escape(word) + (r"(?!\w|::| = )" if word[-1].isalnum() else "")


WORDS = in_turn(SIBLINGS) | in_turn(ENUMERATORS)
TABLE = [  # operator, where it stands, what it becomes
    ("arithmetic", r"(?<= )[-+*/%](?= )", {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/"}),
    ("comparison", r"(?<=; \w )<(?= )", {"<": "<="}),  # of a loop
    ("comparison", r"(?<!; \w )(?<= )(?:<=?|>=?|[=!]=)(?= )",
     {"<": ["<=", ">"], "<=": "<", ">": [">=", "<"], ">=": ">", "==": "!=", "!=": "=="}),
    ("boolean", r"(?<= )(?:&&|\|\|)(?= )|\b(?:true|false)\b|!(?=[\w(])",
     {"&&": "||", "||": "&&", "true": "false", "false": "true", "!": ""}),
    ("sign", r"(?<=[(=?:,] )-(?=[\w(])|(?<=\()-(?=[\w(])|(?<=return )-(?=[\w(])", {"-": ""}),
    ("name", "|".join(map(used, WORDS)), WORDS),
]


def constants(number):
    known = {"0": ["1"], "1": ["0", "2"], "2": ["3"]}
    return known.get(number) or [str(int(number) // 10 if re.fullmatch("10+", number) else int(number) - 1)]


def closing(code, start, brackets="()[]{}"):
    """Behind the bracket that closes the one at `start`."""
    depth = 0
    for n in range(start, len(code)):
        depth += (code[n] in brackets[::2]) - (code[n] in brackets[1::2])
        if depth == 0:
            return n + 1
    return len(code)


def until(code, start, ends):
    """The first of the characters `ends` that stands in no bracket, or the bracket that closes around `start`."""
    while start < len(code) and code[start] not in ends + ")]}":
        start = closing(code, start) if code[start] in "([{" else start + 1
    return start


def computing_code(text):
    """The text with everything else crossed out, so that positions stay: blanks for comments, \\x01 for types and their rules."""
    def crossed_out(code, start, end, by="\x01"):
        return code[:start] + re.sub(r"[^\n]", by, code[start:end]) + code[end:]

    for match in [*NEVER_RUN.finditer(text), *NOT_CODE.finditer(text)]:
        text = crossed_out(text, match.start(), match.end(), " ")
    angle = lambda code, match: closing(code, match.end() - 1, "<>")
    bracket = lambda code, match: closing(code, match.end() - 1)
    statement = lambda code, match: until(code, match.end(), ";")
    line = lambda code, match: until(code, match.end(), "\n")
    for pattern, end in [(r"\btemplate <", angle),
                         (r"\(void\)|\bconcept |\busing |\benum |\bstatic_assert\b|\bconstexpr bool \w+ =", statement),
                         (r"\brequires(?= \w|\()", line), (r"\brequires \{", bracket), (r"\bif constexpr \(", bracket),
                         (r"(?<!operator)(?<=\w)<", angle), (r"\bcheck\w*\x01*\(|\bdecltype\(", bracket)]:
        while match := re.search(pattern, text):
            text = crossed_out(text, match.start(), end(text, match))
    return text


def scopes(code):
    """(name, from, to) of every index: where `std::size_t i` is known. Lengths (d, n, r) are no indices."""
    head = re.compile(r"\s*(?:(?:for|if) \(|if \x01+|else\b)")
    for match in re.finditer(r"(for \()?std::size_t ([^\Wdnr])(?= =|([,)]))", code):
        if match[1]:  # a loop: its body is a block or, behind further heads, one statement
            at = closing(code, match.start() + 4)
            while inner := head.match(code, at):
                at = closing(code, inner.end() - 1) if inner[0][-1] == "(" else inner.end()
            block = re.compile(r"\s*\{").match(code, at)
            end = closing(code, block.end() - 1) if block else until(code, at, ";")
        else:  # a parameter, or a variable
            end = closing(code, code.find("{", match.end())) if match[3] else until(code, match.end(), "")
        yield match[2], match.start(), end


def index_changes(code):
    known = list(scopes(code))
    for match in re.finditer(r"(?<=[\[(])(\w)(?=[\])])|(?<=\()(\w), (\w)(?=\))|(?<=\()(\w)(?=, )|(?<=, )(\w)(?=[,)])", code):
        names = [name for name, start, end in known if start < match.start() < end]
        one, pair = match[1] or match[4] or match[5], match[2] and (match[2], match[3])
        if pair and pair[0] in names and pair[1] in names and pair[0] != pair[1]:
            yield "index", match.start(), match.end(), f"{pair[1]}, {pair[0]}", None
        elif one in names:
            others = [name for name in names if name != one] or [f"({one} > 0 ? {one} - 1 : {one})"]
            yield "index", match.start(), match.end(), others[-1], None


def larger_changes(code):
    """Changes of more than one word: statements, conditions, branches, and signs that are not there."""
    assignment, increment, call = r"(?:[\w.]+(?:\([^;={}]*?\)|\[[^;={}]*?\])*)+ = [^;]*;", r"\+\+\w+;", r"[\w:]+\([^;{}]*\);"
    for match in re.finditer(rf"(?<=[;{{}})])\s+(?:else )?({assignment}|{increment}|{call})", code):
        if not re.match(r"(if|for|while|return|throw)\b", match[1]):
            yield "statement", match.start(1), match.end(1), ";", "deleted"
    for match in re.finditer(r"\b(?:if|while) \(", code):
        end = closing(code, match.end() - 1) - 1
        condition = code[match.end():end]
        if not re.search(r" [=!]= |^!", condition) or " && " in condition or " || " in condition:
            yield "condition", match.end(), end, "!({})", "condition negated"
    for match in re.finditer(r" \? ", code):
        colon = until(code, match.end(), ":")
        while code[colon:colon + 2] == "::":
            colon = until(code, colon + 2, ":")
        end = until(code, colon, ";,")
        yield "branches", match.end(), end, (colon, end), "branches swapped"
    for match in re.finditer(r"\bS (\w+) = |(?:\w\([^;={}]*\) = )|\bconstexpr (S|scalar_of\x01*) \w+(?=\()", code):
        if match[2]:  # a function that gives a scalar: its returns
            body = code.find("{", closing(code, match.end()))
            starts = [r.end() for r in re.finditer(r"\breturn (?![-{\"])", code[:closing(code, body)]) if r.start() > body]
        else:
            starts = [match.end()]
        for start in starts:
            end = until(code, start, ";," if match[1] else ";")
            if code[start] not in "-{\x01" and " ? " not in code[start:end]:
                yield "sign", start, end, "-({})", "sign changed"


def changes(text, code):
    """(operator, from, to, new text, name of the change) of every mutant."""
    for operator, pattern, becomes in TABLE:
        for match in re.finditer(pattern, code):
            new = becomes[match[0]]
            for choice in new if isinstance(new, list) else [new]:
                yield operator, match.start(), match.end(), choice, None
    for match in re.finditer(r"(\w+\.length\()([01])\)", code):
        other = "10"[int(match[2])]
        if re.search(rf"\b{re.escape(match[1])}{other}\)", code):  # a matrix, not a vector
            yield "axis", match.start(2), match.end(2), other, None
    for match in re.finditer(r"(?<![\w.])(?<!length\()\d+(?![\w.'])", code):
        for choice in constants(match[0]):
            yield "constant", match.start(), match.end(), choice, None
    yield from index_changes(code)
    for operator, start, end, new, name in larger_changes(code):
        if isinstance(new, tuple):
            new = text[new[0] + 2:new[1]] + " : " + text[start:new[0] - 1]
        yield operator, start, end, new.replace("{}", text[start:end]), name


def mutants_of(path, file):
    """All mutants of a header, in the order of its text."""
    text = path.read_text(encoding="utf-8")
    code = computing_code(text)
    without_comments = NOT_CODE.sub(lambda m: m[0] if m[0][0] in "\"'" else re.sub(r"[^\n]", " ", m[0]), text).split("\n")
    lines = [line.strip() for line in without_comments]
    found, seen, count = [], {text}, Counter()
    for operator, start, end, new, name in sorted(changes(text, code), key=lambda c: (c[1], c[2], c[3])):
        source = text[:start] + new + text[end:]
        if source in seen:
            continue
        seen.add(source)
        line = text.count("\n", 0, start)
        change = name or f"{text[start:end]} -> {new or 'nothing'}"
        same_lines = [n for n, other in enumerate(lines) if other == lines[line]]
        which = f" @{same_lines.index(line) + 1}" if len(same_lines) > 1 else ""
        count[line, change] += 1
        column = start - text.rfind("\n", 0, start)
        found.append((line, column, operator, change, lines[line], which, count[line, change], source))
    return [Mutant(file, line + 1, column, operator, change, words, " | ".join(
        [file, words + which, change + (f" #{nth}" if count[line, change] > 1 else "")]), source)
        for line, column, operator, change, words, which, nth, source in found]
