"""What schemathesis has to know of the API: a text that is written in a language of its own."""

import schemathesis
from hypothesis import strategies as st

CONDITIONS = [
    "language=python",
    "token_count>=20",
    "not oversize=true",
    "doc_id~**/*.md",
    'section_title="a \\"b\\" \\\\ c"',
    "meta.course_id=13",
    "prose=Chinese",
    "content_type=table",
    "path=bread",
]

conditions = st.lists(st.sampled_from(CONDITIONS), max_size=4)
schemathesis.openapi.format("filter", conditions.map(" or ".join))
