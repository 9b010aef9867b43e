"""Makes eval/names.jsonl: names of symbols, with the lines that define them, for `cargo run --example names`.

The definitions are found by Universal Ctags, and for Python by `ast`: by other programs than the one that is measured.

    python3 eval/names.py DATA > eval/names.jsonl

DATA holds a folder for each repository in REPOSITORIES, as its snapshot was checked out.
"""

import ast
import json
import pathlib
import random
import re
import subprocess
import sys

# Folder, language, where its code is, the commit.
REPOSITORIES = [
    ("flask", "Python", ["src"], "2ac89889"),
    ("axum", "Rust", ["axum/src", "axum-core/src", "axum-extra/src"], "3d78036d"),
    ("gin", "Go", ["."], "dcaa4296"),
    ("hiredis", "C", ["."], "29ea279"),
    ("express", "JavaScript", ["lib"], "a3714473"),
    ("sinatra", "Ruby", ["lib", "rack-protection/lib", "sinatra-contrib/lib"], "cb22afd7"),
    ("penlight", "Lua", ["lua"], "c317508"),
    ("moshi", "Kotlin", ["moshi/src/main", "moshi-adapters/src/main", "moshi-kotlin/src/main"], "889013ec"),
    ("plug", "Elixir", ["lib"], "a898c454"),
]
EACH = 40
MOST_SITES = 4
# What stands for itself in a language, by the kinds of ctags; the word that declares it.
KINDS = {
    "Python": {"class": "class", "function": "def", "method": "def"},
    "Rust": {
        "struct": "struct", "enum": "enum", "interface": "trait", "function": "fn", "method": "fn",
        "macro": "macro_rules!", "typedef": "type",
    },
    "Go": {"func": "func", "struct": "type", "interface": "type", "type": "type"},
    "C": {"function": "", "struct": "struct", "macro": "#define", "enum": "enum"},
    "JavaScript": {"function": "function", "class": "class", "method": ""},
    "Ruby": {"class": "class", "module": "module", "method": "def", "singletonMethod": "def"},
    "Lua": {"function": "function"},
    "Kotlin": {"class": "class", "interface": "interface", "method": "fun", "object": "object"},
    "Elixir": {"module": "defmodule", "function": "def", "macro": "defmacro", "protocol": "defprotocol"},
}
# Tests, examples, a copied library, and a file that is mostly encoded data.
ASIDE = re.compile(
    r"(^|/)(tests?|specs?|examples?|testdata|adapters|docs?|demos?|bench\w*)(/|$)"
    r"|_test\.|(^|/)test\.c$|\.test\.|Test\.|ffc\.h|debugger\.ex"
)


def python(root, folder):
    for path in sorted((root / folder).rglob("*.py")):
        tree = ast.parse(path.read_text())

        def visit(node, inside, path=path):
            for child in ast.iter_child_nodes(node):
                if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    kind = "class" if isinstance(child, ast.ClassDef) else "method" if inside == "class" else "function"
                    if inside != "function":
                        yield child.name, str(path.relative_to(root)), child.lineno, kind
                    yield from visit(child, "class" if kind == "class" else "function")
                elif not isinstance(child, ast.expr):
                    yield from visit(child, inside)

        yield from visit(tree, "module")


def ctags(root, folder, language):
    command = ["ctags", "-R", "--output-format=json", "--fields=+nKzS", f"--languages={language}", "-f", "-", folder]
    if language == "C":
        command[3:3] = ["--langmap=C:.c.h"]
    lines = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    for line in lines:
        tag = json.loads(line)
        if tag.get("_type") == "tag" and "line" in tag:
            yield tag["name"], tag["path"].removeprefix("./"), tag["line"], tag["kind"]


def is_public(name, line, language):
    if not re.fullmatch(r"[A-Za-z_]\w*(\.\w+)*[?!]?", name) or name.startswith("_") or len(name) < 2:
        return False
    if language == "Rust":
        return re.match(r"\s*(pub\b|macro_rules!)", line) is not None
    if language == "Go":
        return name[0].isupper()
    if language == "Ruby":
        return "private" not in line
    if language == "Kotlin":
        # Ctags takes parameters of lambdas for methods.
        return re.search(r"\b(private|internal)\b", line) is None and re.search(r"\b(fun|class|interface|object)\b", line)
    if language == "Elixir":
        # Ctags takes examples in documentation for code; they are indented further.
        return re.match(r"( {2})?def(?!p)", line) is not None
    if language == "JavaScript":
        return re.search(r"\b(function|class)\b|=>", line) is not None and not name.startswith("AnonymousFunction")
    if language == "Lua":
        return "function" in line
    return True


def main():
    data = pathlib.Path(sys.argv[1])
    for repository, language, folders, commit in REPOSITORIES:
        root = data / repository
        tags = []
        for folder in folders:
            tags += python(root, folder) if language == "Python" else ctags(root, folder, language)
        sites, kinds = {}, {}
        for name, path, line, kind in tags:
            text = (root / path).read_text(errors="replace").splitlines()[line - 1]
            if kind in KINDS[language] and not ASIDE.search(path) and is_public(name, text, language):
                name = name if language == "Elixir" and kind == "module" else name.rsplit(".", 1)[-1]
                sites.setdefault(name, []).append(f"{path}:{line}")
                kinds.setdefault(name, set()).add(kind)
        names = sorted(name for name in sites if len(sites[name]) <= MOST_SITES)
        random.Random(28).shuffle(names)
        for name in sorted(names[:EACH]):
            kind = sorted(kinds[name])[0] if len(kinds[name]) == 1 else None
            word = KINDS[language][kind] if kind else ""
            at = sorted(set(sites[name]))
            row = {"repository": repository, "commit": commit, "language": language, "name": name, "word": word, "at": at}
            print(json.dumps(row))


main()
