//! Which page answers a path?

use http::Method;

use crate::{
    answer::{self, Reply},
    asked::Asked,
    page::{self, Page, frame},
    route::{self, What},
    view::View,
};

/// The page of a path that is read.
pub(crate) fn shown(view: &View<'_>, asked: &Asked) -> Page {
    let route = route::find(&Method::GET, &asked.path);
    match route.map(|route| route.what) {
        Some(What::Now) => page::now::page(view, asked),
        Some(What::Calendar) => page::calendar::page(view, asked),
        Some(What::Resources) => page::resources::page(view, asked),
        Some(What::Resource) => page::resource::page(view, asked),
        Some(What::Pools) => page::pool::page(view, asked),
        Some(What::Policies) => page::policies::page(view, asked),
        Some(What::Gates) => page::gates::page(view, asked),
        _ => Page::missing("no page is called that"),
    }
}

/// A page in its frame, as an answer.
pub(crate) fn whole(view: &View<'_>, asked: &Asked, page: Page) -> Reply {
    answer::page(page.code, frame::whole(view, asked, page))
}
