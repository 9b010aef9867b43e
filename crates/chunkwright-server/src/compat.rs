//! APIs of other platforms, word for word, behind the feature `compat`.

#[cfg(feature = "compat")]
mod dify;
#[cfg(feature = "compat")]
mod kb;

use axum::Router;

use crate::api::Add;

/// Their resources, in the order of documentation.
pub(crate) const RESOURCES: &[Add] = &[
    #[cfg(feature = "compat")]
    kb::add,
    #[cfg(feature = "compat")]
    dify::add,
];

/// Converts failures to the formats that the platforms expect.
pub(crate) fn translate_failures(router: Router) -> Router {
    #[cfg(feature = "compat")]
    let router = router.layer(axum::middleware::from_fn(dify::answer_failures));
    router
}
