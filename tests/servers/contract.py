"""What schemathesis has to know of the API: a text that is written in a language of its own, and how long a request may be."""

from urllib.parse import urlencode

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


@schemathesis.hook
def filter_query(_context, query):
    """No request whose first line is over 64 KB: it is refused by 431, without a body, before the API sees it."""
    return len(urlencode(query or {}, doseq=True, errors="surrogatepass")) < 60_000
