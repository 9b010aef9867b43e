//! Components: Vue, Svelte, Astro.

use std::sync::Arc;

use chunkwright::{Chars, ChunkConfig, Chunker, Parser, STRATEGIES, Unit};
use chunkwright_code::{COMPONENTS, language_for, language_named};

use crate::stride::one_in;
use crate::{check, check_sections, invariants, parse};

const VUE: &str = r#"<!-- A counter. <script>no()</script> -->
<script lang="ts">
export default { name: "Counter" };
</script>

<script setup lang="ts">
import { ref } from "vue";

const имя = ref("计数");
function add(n: number) {
  return n + 1;
}
</script>

<template>
  <div v-if="a < b && имя">
    <!-- of p -->
    <p>{{ a < b && "</div>" }}</p>
    <template #slot="{ item }">
      <Item :key="item.id" @click="() => add(1)" />
    </template>
    <p>Last</p>
  </div>
</template>

<style lang="scss" scoped>
.a { color: red; }
</style>
"#;

#[test]
fn the_parts_of_a_component_are_sections_with_those_of_their_language() {
    check_sections(
        "Counter.vue",
        VUE,
        &[
            "Module script 2-4 `<script lang=\"ts\">`",
            "Module script setup 6-13 `<script setup lang=\"ts\">`",
            "Function script setup > add 10-12 `function add(n: number) {`",
            "Module template 15-24 `<template>`",
            "Module style 26-28 `<style lang=\"scss\" scoped>`",
        ],
    );
    let document = parse("Counter.vue", VUE);
    assert_eq!(document.imports(), ["import { ref } from \"vue\";"]);
    assert_eq!(document.language(), Some("vue"));
}

#[test]
fn a_template_is_a_block_that_is_cut_where_elements_begin() {
    check(
        "Counter.vue",
        VUE,
        "1-1 Html
         2-2 Html script
         3-4 Statement script
         6-6 Html script setup
         7-7 Import script setup
         9-9 Statement script setup
         10-13 Function script setup > add
         15-15 Html template
         16-24 Html template 19:1 22:1
         26-26 Html style
         27-28 Statement style",
    );
}

#[test]
fn markup_of_svelte_stands_between_the_parts() {
    check(
        "App.svelte",
        "<script context=\"module\">\n  let a = 1;\n</script>\n\n<h1>Hello</h1>\n{#if a < 1 && b}\n  <p>{a}</p>\n{:else}\n  \
         <p>b</p>\n{/if}\n<svelte:head>\n  <script src=\"x\"></script>\n</svelte:head>\n\n<style>\n  p { color: red }\n</style>\n",
        "1-1 Html script module
         2-3 Statement script module
         5-13 Html 6:0 11:0
         15-15 Html style
         16-17 Statement style",
    );
}

#[test]
fn the_top_of_an_astro_file_is_its_script() {
    check_sections(
        "a.astro",
        "---\nimport A from \"./A.astro\";\nfunction f(): number { return 1 }\n---\n<A>{f()}</A>\n",
        &["Module script 1-4 `---`", "Function script > f 3-3 `function f(): number {`"],
    );
    check_sections("a.astro", "--- no end\n<p>text</p>\n", &[]);
}

#[test]
fn line_breaks_of_any_kind_give_the_same_parts() {
    let crlf = VUE.replace('\n', "\r\n");
    assert_eq!(crate::render(&parse("a.vue", &crlf)), crate::render(&parse("a.vue", VUE)));
    parse("a.vue", &VUE.replace('\n', "\r"));
}

#[test]
fn a_component_is_known_by_its_extension_and_name() {
    assert_eq!(
        COMPONENTS.iter().map(|component| component.name()).collect::<Vec<_>>(),
        ["vue", "svelte", "astro"]
    );
    for component in COMPONENTS {
        let name = component.name();
        assert_eq!(language_for(&format!("src/App.{name}"), "").map(Parser::name), Some(name));
        assert_eq!(language_named(name).map(Parser::name), Some(name));
    }
}

/// Components that are broken, or nest without end.
fn hostile() -> Vec<String> {
    let n = 20_000;
    vec![
        "<script>\nlet a = 1;\n".into(),
        "<script".into(),
        "<script setup lang=\"ts".into(),
        "<script lang=vue><script lang=vue>".repeat(n),
        "<script></script>".into(),
        "<script/>\n<template/>".into(),
        "<template>\n<template>\n<p>a</p>\n</template>\nb\n".into(),
        "<template>\n<template/>\n</template>\n<script>\nlet a;\n</script>\n".into(),
        "<template>\n<!-- </template> -->\n<p>a</p>\n</template>".into(),
        "<template>\n<!-- \n</template>\n<script>let a</script>".into(),
        "<template lang=\"pug\">\np a\n  template b\n</template>\n<style lang='sass'>\na\n  b: c\n</style>"
            .into(),
        "<i18n lang=\"json\">\n{\"a\": \"b\"}\n</i18n>\n<docs>\n# A\n</docs>\n".into(),
        "<SCRIPT>\nlet a = 1;\n</Script >\nafter".into(),
        "<script>let a = '</scripts>'</script>no tag".into(),
        "\u{feff}<script>\u{301}let a</script>\u{301}<style>\u{301}</style>".into(),
        "<p>only markup</p>\n".into(),
        "текст < 1 > 2 </p> {{ {".into(),
        "{".repeat(n) + &"}".repeat(n),
        "{}".repeat(n),
        "<".repeat(n),
        "<a ".repeat(n),
        "<a \"".repeat(n),
        "<div>\n".repeat(n),
        "<p>\n</div>\n".repeat(n),
        "<template>\n".repeat(n),
        "<!--\n".repeat(n),
        "<script>\n".repeat(n),
        "<style>\n</style>\n".repeat(n / 10),
        "{#if a}\n<p>\n".repeat(n),
    ]
}

#[test]
fn hostile_components_tile_and_are_cut_within_limits() {
    let chunkers = STRATEGIES.iter().map(|strategy| {
        let config = ChunkConfig {
            strategy: strategy.name().into(),
            unit: Unit::Chars,
            max_size: 400,
            target_size: 300,
            min_size: 40,
            overlap_size: 0,
            ..ChunkConfig::default()
        };
        Chunker::new(config, Arc::new(Chars)).unwrap()
    });
    let chunkers: Vec<_> = chunkers.collect();
    let short = VUE.char_indices().step_by(one_in(3)).map(|(end, _)| VUE[..end].to_owned());
    for source in hostile().into_iter().chain(short) {
        for name in ["a.vue", "a.svelte", "a.astro"] {
            let document = parse(name, &source);
            invariants::model(&document);
            if source.len() < 1000 {
                for chunker in &chunkers {
                    invariants::chunk(chunker, &document);
                }
            }
        }
    }
}

#[test]
fn a_method_of_a_script_says_which_part_and_file_it_is_of() {
    let document = parse("Counter.vue", VUE);
    let config = ChunkConfig {
        unit: Unit::Chars,
        max_size: 300,
        target_size: 240,
        min_size: 0,
        ..chunkwright::preset::preset("code").unwrap()
    };
    let chunker = Chunker::new(config, Arc::new(Chars)).unwrap();
    let chunks = invariants::chunk(&chunker, &document);
    let texts: Vec<_> = chunks.iter().map(|chunk| chunk.render().into_text()).collect();
    let method = texts.iter().find(|text| text.contains("function add")).unwrap();
    assert_eq!(
        method,
        "<!-- Counter.vue -->\n<script setup lang=\"ts\">\nfunction add(n: number) {\n  return n + 1;\n}\n</script>"
    );
}
