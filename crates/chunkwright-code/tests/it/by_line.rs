//! Source that its grammar does not take keeps the names of what its lines plainly begin.

use std::fmt::Write as _;

use chunkwright::SectionKind;

use crate::{is_built_in, parse};

/// Asserts the symbols of a file: `kind title`, indented by depth.
#[track_caller]
fn check(name: &str, source: &str, expect: &str) {
    if !is_built_in(name, source) {
        return;
    }
    let document = parse(name, source);
    let mut outline = String::new();
    for (index, section) in document.sections().iter().enumerate().skip(1) {
        let SectionKind::Symbol(kind) = section.kind else { continue };
        let depth = document.path(chunkwright::SectionId(index as u32)).len() - 1;
        let _ = writeln!(outline, "{}{} {}", "  ".repeat(depth), kind.name(), section.title);
    }
    let expect: String =
        expect.lines().map(|line| line.strip_prefix("        ").unwrap_or(line).to_owned() + "\n").collect();
    assert_eq!(outline.trim_end(), expect.trim(), "{name}:\n{source}");
}

#[test]
fn new_kotlin_keeps_the_class_around_it() {
    let expect = "class Outer\n  method before\n  method middle\n  method after\nfunction last";
    for middle in [
        "    context(logger: Logger)\n    fun middle(x: Int): Int { return x }\n",
        "    fun middle(x: Any) = when (x) {\n        is String if x.length > 1 -> 1\n        else -> 0\n    }\n",
        "    context(_: Raise<Error>, logger: Logger)\n    private suspend inline fun <reified T> List<T>.middle(\n        x: Int,\n    ): Int {\n        return x\n    }\n",
    ] {
        let source = format!(
            "class Outer {{\n    fun before() = 1\n{middle}    fun after() = 2\n}}\n\nfun last() = 3\n"
        );
        check("a.kt", &source, expect);
    }
    check(
        "a.kt",
        "class Outer {\n    fun before() = 1\n    val city: StateFlow<String>\n        field = MutableStateFlow(\"\")\n    fun after() = 2\n}\n\nfun last() = 3\n",
        "class Outer\n  method before\n  method after\nfunction last",
    );
}

#[test]
fn routines_of_other_dialects_of_sql_have_names() {
    check(
        "tsql.sql",
        "-- Makes it.\nCREATE OR ALTER PROCEDURE [dbo].[before] @Id INT AS\nBEGIN\n  SELECT 1\nEND\nGO\nCREATE PROCEDURE dbo.after AS SELECT 2\nGO\nCREATE FUNCTION dbo.last(@x INT) RETURNS INT AS BEGIN RETURN @x END\nGO\nCREATE TABLE Outer (id INT)\nGO\n",
        "function dbo.before\nfunction dbo.after\nfunction dbo.last\nstruct Outer",
    );
    check(
        "mysql.sql",
        "DELIMITER $$\nCREATE DEFINER=`root`@`localhost` PROCEDURE `lamp_on`(IN lamp INT)\nBEGIN\n  IF lamp > 0 THEN\n    UPDATE lamps SET lit = 1 WHERE id = lamp;\n  END IF;\nEND$$\n\nCREATE TRIGGER lamp_log AFTER UPDATE ON lamps FOR EACH ROW\nBEGIN\n  INSERT INTO log VALUES (NEW.id);\nEND$$\nDELIMITER ;\n\nCREATE TABLE IF NOT EXISTS lamps (id INT);\n",
        "function lamp_on\nfunction lamp_log\nstruct lamps",
    );
    check(
        "oracle.sql",
        "create or replace editionable procedure harbour.open_lock (p_id in number) is\n  v_count number;\nbegin\n  select count(*) into v_count from ships where id = p_id;\n  if v_count > 0 then raise_application_error(-20001, 'busy'); end if;\nend open_lock;\n/\n\ncreate or replace package body harbour.crane as\n  procedure lift (p_id number) is begin null; end lift;\n\n  -- Down again.\n  function lower return number is\n  begin\n    return 1;\n  end lower;\nend crane;\n/\n\ncreate or replace view harbour.open_ships as\n  select * from ships where state = 'open';\n",
        "function harbour.open_lock\nmodule harbour.crane\n  function lift\n  function lower\nstruct harbour.open_ships",
    );
}

#[test]
fn names_around_what_a_grammar_does_not_know_are_kept() {
    check(
        "a.py",
        "class Lamp:\n    def glow(self):\n        return t\"x\" ?? 1 ?? 2 ?? 3 ?? 4 ?? 5\n\n    @cached\n    async def dim(self):\n        ??? !!! ???\n\n\ndef last(): ??? $$$ ???\n",
        "class Lamp\n  method glow\n  method dim\nfunction last",
    );
    check(
        "a.rb",
        "module Harbour\n  class Lamp < Base\n    def glow(x)\n      puts ??? %%% ???\n    rescue Error\n      nil\n    end\n\n    def self.dim = %%% ??? [[[ (((\n  end\nend\n\ndef last\n  ((( [[[ %%% ???\nend\n",
        "module Harbour\n  class Lamp\n    method glow\n    method dim\nfunction last",
    );
    check(
        "a.ts",
        "export class Store<T> {\n  open(path: string): void {\n    ??? %%% ??? ((( \n  }\n  async close() {\n    ### ??? ;;; [[[\n  }\n}\n\nexport const later = async (x: number) => {\n  ### %%% ??? ((( \n};\n\nexport default function last() { ### ??? %%% }\n",
        "class Store\n  method open\n  method close\nfunction later\nfunction last",
    );
}

#[test]
fn what_is_no_symbol_has_no_name() {
    // Comments, strings, statements and assignments that begin with such words.
    check(
        "a.kt",
        "/*\nclass No {\n*/\n// fun no() = 1\nval text = \"\"\"\nclass No\n\"\"\"\nfun yes() = when (x) {\n    is String if x -> ??? ### ???\n    is String if y -> ??? ### ???\n}\nobject.run ### ???\n",
        "function yes",
    );
    check("a.js", "object = 3 ### ???\nmodule.exports = 4 ### ???\nclass = 5 ### ??? ###\n", "");
    check(
        "a.sql",
        "-- CREATE PROCEDURE no AS\nINSERT INTO a VALUES ('CREATE PROCEDURE no');;; ((( GO GO\n",
        "",
    );
}

#[test]
fn branches_of_a_preprocessor_that_share_a_brace_hold_no_function_below() {
    let source = include_str!("split.c");
    check(
        "split.c",
        source,
        "struct lamp\nfunction inside\nfunction after_split\nfunction main_loop\nfunction nested\nfunction last_one",
    );
    let document = parse("split.c", source);
    let after =
        document.blocks().iter().find(|block| block.span.of(source).contains("after_split(int")).unwrap();
    assert!(after.span.of(source).starts_with("/* Comes after"), "{:?}", after.span.of(source));
}

#[test]
fn what_has_its_name_in_a_macro_or_export_is_named() {
    check(
        "a.cpp",
        "namespace lamp {\nTEST_F(Fixture, TurnsOn) {\n  EXPECT_EQ(1, 1);\n}\nTEST(Other, TurnsOff) { EXPECT_TRUE(true); }\nBENCHMARK_DEFINE(glow) {\n  run();\n}\nint PLAIN(int x) { return x; }\n}\n",
        "module lamp\n  function Fixture.TurnsOn\n  function Other.TurnsOff\n  function glow\n  function PLAIN",
    );
    check("a.tsx", "export default function () {\n  return <b />;\n}\n", "function default");
    check("a.js", "export default async () => {\n  run();\n};\n", "function default");
    check("b.js", "export default class { run() {} }\n", "class default\n  method run");
    check(
        "a.scala",
        "object A:\n  private def x = 1\n  private def y(using z: Int) = z\n",
        "class A\n  method x\n  method y",
    );
}

#[test]
fn a_function_that_is_wrapped_has_the_name_it_is_bound_to() {
    check(
        "a.tsx",
        "export const Panel = memo(({ title }) => {\n  return <b>{title}</b>;\n});\nconst total = computed<number>(() => 1);\nmemo(() => 1);\nconst limit = load(() => 1);\n",
        "function Panel\nfunction total",
    );
}

#[test]
fn texts_with_other_texts_inside_hide_no_name() {
    check(
        "a.sh",
        "before() {\n  cat <<A\n$(cat <<B\ninner() {\nB\n)\nA\n}\n\nafter() {\n  echo\n}\n",
        "function before\nfunction after",
    );
    check(
        "a.rb",
        "class Outer\n  def before\n    call(<<~A, <<~B)\n      def inner #{<<~C}\n        deep\n      C\n    A\n      text\n    B\n  end\n\n  def after\n    1\n  end\nend\n",
        "class Outer\n  method before\n  method after",
    );
}
