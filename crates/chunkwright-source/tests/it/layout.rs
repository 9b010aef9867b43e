//! Documents of layout models: Docling, `MinerU`, Marker.

use chunkwright::PositionUnit::Page;
use chunkwright::{PageBox, Span};
use chunkwright_source::convert::{ConvertError, Converted, convert, converter_for};
use serde_json::{Value, json};

use crate::stands;

/// A document that docling-core 2 wrote.
const DOCLING: &[u8] = include_bytes!("../samples/docling.json");

fn converted(json: &[u8]) -> Converted {
    convert(converter_for("json", json).unwrap(), json).unwrap()
}

fn read(document: &Value) -> Converted {
    converted(document.to_string().as_bytes())
}

/// Asserts in which boxes a text stands: page, edges, block.
#[track_caller]
fn boxed(converted: &Converted, text: &str, expect: &[(u32, [u16; 4], &str)]) {
    let at = converted.text.find(text).unwrap_or_else(|| panic!("no {text:?} in {:?}", converted.text));
    let position = converted.positions.of(Span::new(at, at + text.len())).unwrap();
    let expect: Vec<PageBox> = expect
        .iter()
        .map(|&(page, [left, top, right, bottom], block)| PageBox {
            page,
            left,
            top,
            right,
            bottom,
            block: block.into(),
        })
        .collect();
    assert_eq!(position.boxes, expect, "{text}");
}

#[test]
fn a_docling_document_keeps_its_order_its_pages_its_boxes_and_its_references() {
    let found = converted(DOCLING);
    assert_eq!(converter_for("json", DOCLING).unwrap().name(), "docling");
    let expected = "# Pump manual\n\n## 1 Safety\n\nClose the valve * before # opening <the> housing.\n\n- Wear gloves\n2. Drain oil\n\n```python\nprint('x')\n```\n\n### 2 Data\n\nTable 1: Limits\n\n| Part | Bar |\n|---|---|\n| Pump | 12 \\| 13 |\n\nFigure 1: The pump\n\n$$\np = F / A\n$$\n\nSee annex.\n\n";
    assert_eq!(found.text, expected);
    stands(&found, Page, &[("Safety", 1), ("Drain", 1), ("2 Data", 2), ("See annex", 2)]);
    boxed(&found, "Close the valve", &[(1, [118, 179, 882, 242], "#/texts/3")]);
    boxed(&found, "| Pump", &[(2, [118, 154, 882, 242], "#/tables/0")]);
    boxed(
        &found,
        "gloves\n2. Drain",
        &[(1, [131, 255, 882, 274], "#/texts/4"), (1, [131, 280, 882, 299], "#/texts/5")],
    );
}

#[test]
fn references_in_a_circle_and_a_block_over_two_pages_are_read_once() {
    let place = |page: u32, top: f64, bottom: f64| json!({"page_no": page, "bbox": {"l": 0, "t": top, "r": 50, "b": bottom, "coord_origin": "TOPLEFT"}});
    let found = read(&json!({
        "schema_name": "DoclingDocument",
        "body": {"children": [{"$ref": "#/groups/0"}, {"$ref": "#/groups/1"}, {"$ref": "#/texts/9"}, {"$ref": "x"}]},
        "groups": [
            {"label": "section", "children": [{"$ref": "#/texts/0"}, {"$ref": "#/groups/0"}]},
            {"label": "inline", "children": [{"$ref": "#/texts/1"}, {"$ref": "#/texts/2"}]},
        ],
        "texts": [
            {"label": "text", "text": "Over two pages", "prov": [place(1, 90.0, 100.0), place(2, 0.0, 10.0)]},
            {"label": "text", "text": "bold"}, {"label": "text", "text": "plain"},
        ],
        "pages": {"1": {"size": {"width": 100, "height": 100}}, "2": {"size": {"width": 100, "height": 100}}},
    }));
    assert_eq!(found.text, "Over two pages\n\nbold plain\n\n");
    boxed(&found, "Over", &[(1, [0, 900, 500, 1000], "#/texts/0"), (2, [0, 0, 500, 100], "#/texts/0")]);
}

#[test]
fn a_list_of_contents_of_mineru_keeps_pages_and_boxes() {
    let found = read(&json!([
        {"type": "header", "text": "Running head", "page_idx": 0},
        {"type": "text", "text": "Flow curves ", "text_level": 1, "bbox": [100, 50, 900, 80], "page_idx": 0},
        {"type": "text", "text": "The value of $x_1$ is **known**.", "bbox": [100, 90, 900, 200], "page_idx": 0},
        {"type": "equation", "text": "$$\nQ = f(P)\n$$", "text_format": "latex", "page_idx": 1},
        {"type": "table", "table_caption": ["Table 2 Terms"], "table_body": "<table><tr><td>Site</td><td>10</td></tr><tr><td>Redhill</td><td>P</td></tr></table>", "table_footnote": ["na: few points"], "bbox": [10, 300, 990, 600], "page_idx": 1},
        {"type": "list", "list_items": ["1) first", "• second", "third"], "page_idx": 2},
        {"type": "image", "img_path": "images/a.jpg", "image_caption": ["Fig. 1. A pump"], "image_footnote": [], "bbox": [0, 0, 500, 500], "page_idx": 2},
        {"type": "code", "code_body": "let x = 1;", "page_idx": 2},
        {"type": "page_number", "text": "3", "page_idx": 2},
    ]));
    let expected = "# Flow curves\n\nThe value of $x_1$ is **known**.\n\n$$\nQ = f(P)\n$$\n\nTable 2 Terms\n\n| Site | 10 |\n| --- | --- |\n| Redhill | P |\n\nna: few points\n\n1) first\n- second\n- third\n\nFig. 1. A pump\n\n```\nlet x = 1;\n```\n\n";
    assert_eq!(found.text, expected);
    stands(&found, Page, &[("Flow", 1), ("Q =", 2), ("second", 3)]);
    boxed(&found, "The value", &[(1, [100, 90, 900, 200], "")]);
    boxed(&found, "Redhill", &[(2, [10, 300, 990, 600], "")]);
    boxed(&found, "Q =", &[(2, [0, 0, 1000, 1000], "")]);
}

#[test]
fn the_pages_of_mineru_are_read_by_their_blocks_lines_and_spans() {
    let span = |content: &str| json!({"type": "text", "content": content});
    let line = |spans: Value| json!({"spans": spans});
    let found = read(&json!({"pdf_info": [{
        "page_idx": 4, "page_size": [612, 792],
        "discarded_blocks": [{"type": "discarded", "lines": [line(json!([span("Running head")]))]}],
        "para_blocks": [
            {"type": "title", "bbox": [61.2, 79.2, 306, 158.4], "lines": [line(json!([span("Safety")]))]},
            {"type": "text", "bbox": [0, 0, 612, 792], "lines": [
                line(json!([span("dependent on "), {"type": "inline_equation", "content": "a^2"}])), line(json!([span("the reliability")]))]},
            {"type": "table", "bbox": [0, 0, 1, 1], "blocks": [
                {"type": "table_caption", "bbox": [0, 396, 612, 400], "lines": [line(json!([span("Table 1")]))]},
                {"type": "table_body", "bbox": [0, 400, 612, 500], "lines": [line(json!([{"type": "table", "html": "<table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table>"}]))]}]},
            {"type": "interline_equation", "lines": [line(json!([{"type": "interline_equation", "content": "x = y"}]))]},
        ],
    }], "_backend": "pipeline"}));
    let expected = "# Safety\n\ndependent on $a^2$\nthe reliability\n\nTable 1\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n$$\nx = y\n$$\n\n";
    assert_eq!(found.text, expected);
    boxed(&found, "Safety", &[(5, [100, 100, 500, 200], "")]);
    boxed(&found, "| a | b", &[(5, [0, 505, 1000, 631], "")]);
}

#[test]
fn the_tree_of_marker_keeps_the_ids_of_its_blocks() {
    let leaf = |kind: &str, id: &str, html: &str, bbox: [f64; 4]| json!({"block_type": kind, "id": id, "html": html, "bbox": bbox, "polygon": [], "children": null});
    let found = read(&json!({"block_type": "Document", "metadata": {}, "children": [
        {"block_type": "Page", "id": "/page/6/Page/9", "html": "", "polygon": [[0, 0], [600, 0], [600, 800], [0, 800]], "children": [
            leaf("PageHeader", "/page/6/PageHeader/0", "<p>Head</p>", [0.0, 0.0, 1.0, 1.0]),
            leaf("SectionHeader", "/page/6/SectionHeader/1", "<h2>Results &amp; more</h2>", [60.0, 80.0, 300.0, 160.0]),
            leaf("Text", "/page/6/Text/2", "<p block-type=\"Text\">One <b>bold</b> word.</p>", [60.0, 200.0, 540.0, 240.0]),
            {"block_type": "ListGroup", "id": "/page/6/ListGroup/3", "html": "", "polygon": [], "children": [
                leaf("ListItem", "/page/6/ListItem/4", "<li>first</li>", [60.0, 240.0, 540.0, 280.0]),
                leaf("ListItem", "/page/6/ListItem/5", "<li>second</li>", [60.0, 280.0, 540.0, 320.0])]},
            leaf("Table", "/page/6/Table/6", "<table><tr><th>a</th></tr><tr><td>b</td></tr></table>", [60.0, 400.0, 540.0, 480.0]),
        ]},
    ]}));
    let expected = "## Results & more\n\nOne bold word.\n\n- first\n- second\n\n| a |\n| --- |\n| b |\n\n";
    assert_eq!(found.text, expected);
    stands(&found, Page, &[("Results", 7), ("second", 7)]);
    boxed(&found, "Results", &[(7, [100, 100, 500, 200], "/page/6/SectionHeader/1")]);
    boxed(&found, "second", &[(7, [100, 350, 900, 400], "/page/6/ListItem/5")]);
}

#[test]
fn other_json_stays_what_it_is_and_damaged_documents_say_so() {
    for other in [
        json!({"schema_name": "Other", "body": {}}),
        json!([{"type": "text", "page_idx": "0"}, {"page_idx": 1}]),
        json!([]),
        json!({"block_type": "Document", "children": []}),
        json!({"pdf_info": []}),
    ] {
        assert!(converter_for("json", other.to_string().as_bytes()).is_none(), "{other}");
    }
    assert!(converter_for("txt", DOCLING).is_none());
    for end in (0..DOCLING.len()).step_by(97) {
        let Some(converter) = converter_for("json", &DOCLING[..end]) else { continue };
        let error = converter.convert(&DOCLING[..end]).unwrap_err();
        assert!(matches!(error, ConvertError::Damaged { format: "docling", .. }), "{error}");
    }
    // Shapes that no program writes cost nothing but their text.
    let odd = json!({"schema_name": "DoclingDocument", "body": {"children": [1, {"$ref": "#/texts/0"}, {"$ref": "#"}]}, "texts": [{"label": "text", "text": "kept", "prov": [{"page_no": -1, "bbox": null}, 7]}]});
    assert_eq!(read(&odd).text, "kept\n\n");
}
