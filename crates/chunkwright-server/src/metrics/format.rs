//! The text formats of metrics: `OpenMetrics`, and the older one of Prometheus, which more programs read.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    OpenMetrics,
    Prometheus,
}

impl Format {
    /// The format that a client prefers. Without a preference, that of Prometheus.
    pub(super) fn asked(headers: &HeaderMap) -> Self {
        let values = headers.get_all(ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
        let ranges: Vec<&str> = values.flat_map(|value| value.split(',')).collect();
        let weight = |media_type: &str| {
            let weights = ranges.iter().filter_map(|range| weight_of(range, media_type));
            weights.fold(0.0, f32::max)
        };
        let open = weight("application/openmetrics-text");
        if open > 0.0 && open >= weight("text/plain") { Self::OpenMetrics } else { Self::Prometheus }
    }

    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// Converts a text of `OpenMetrics` to this format.
    pub(super) fn text(self, open_metrics: String) -> String {
        match self {
            Self::OpenMetrics => open_metrics,
            Self::Prometheus => prometheus(&open_metrics),
        }
    }
}

/// The weight of a media type in one range of the header `Accept`.
fn weight_of(range: &str, media_type: &str) -> Option<f32> {
    let mut parts = range.split(';').map(str::trim);
    if !parts.next()?.eq_ignore_ascii_case(media_type) {
        return None;
    }
    Some(parts.find_map(|part| part.strip_prefix("q=")).map_or(1.0, |weight| weight.parse().unwrap_or(0.0)))
}

/// Converts to the format of Prometheus: a family has the name of its samples, and the only types are counter, gauge
/// and histogram.
fn prometheus(open_metrics: &str) -> String {
    let mut text = String::with_capacity(open_metrics.len());
    let mut help = "";
    for line in open_metrics.lines() {
        if let Some(family) = line.strip_prefix("# HELP ") {
            help = family;
        } else if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|it| it.split_once(' ')) {
            let (end, kind) = match kind {
                "counter" => ("_total", kind),
                "info" => ("_info", "gauge"),
                "unknown" => ("", "untyped"),
                kind => ("", kind),
            };
            if let Some(help) = help.strip_prefix(name) {
                text.extend(["# HELP ", name, end, help, "\n"]);
            }
            text.extend(["# TYPE ", name, end, " ", kind, "\n"]);
        } else if !line.starts_with("# ") {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn the_format_is_the_one_that_the_client_accepts_rather() {
        // The headers of Prometheus 3 and 2.5, then of curl, browsers and agents.
        for (accept, format) in [
            (
                "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,\
                 text/plain;version=1.0.0;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
                Format::OpenMetrics,
            ),
            (
                "application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
                Format::OpenMetrics,
            ),
            ("*/*", Format::Prometheus),
            ("", Format::Prometheus),
            ("text/html,application/xhtml+xml,*/*;q=0.8", Format::Prometheus),
            ("text/plain;version=0.0.4", Format::Prometheus),
            ("text/plain, application/openmetrics-text;q=0.5", Format::Prometheus),
            ("application/openmetrics-text;q=0", Format::Prometheus),
        ] {
            let headers = [(ACCEPT, HeaderValue::from_static(accept))].into_iter().collect();
            assert_eq!(Format::asked(&headers), format, "{accept}");
        }
        assert_eq!(Format::asked(&HeaderMap::new()), Format::Prometheus);
    }

    #[test]
    fn prometheus_has_families_by_the_names_of_their_samples_and_no_other_types() {
        let open = "# HELP a_b Bs by c.\n# TYPE a_b counter\na_b_total{c=\"d\"} 5\n# HELP a_build The version.\n# TYPE a_build info\n\
                    a_build_info{version=\"1\"} 1\n# HELP a_seconds Time.\n# TYPE a_seconds histogram\n# UNIT a_seconds seconds\n\
                    a_seconds_sum 0.5\na_seconds_count 1\na_seconds_bucket{le=\"+Inf\"} 1\n# EOF\n";
        let text = "# HELP a_b_total Bs by c.\n# TYPE a_b_total counter\na_b_total{c=\"d\"} 5\n# HELP a_build_info The version.\n\
                    # TYPE a_build_info gauge\na_build_info{version=\"1\"} 1\n# HELP a_seconds Time.\n# TYPE a_seconds histogram\n\
                    a_seconds_sum 0.5\na_seconds_count 1\na_seconds_bucket{le=\"+Inf\"} 1\n";
        assert_eq!(prometheus(open), text);
    }
}
