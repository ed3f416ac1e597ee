//! What do all pictures share? A page with its colours, and text that is safe within XML.
//!
//! Colours follow the reader's light or dark scheme, and nothing is said by colour alone.

const STYLE: &str = "
  .ground { fill: #ffffff } .card { fill: #f6f8fa; stroke: #d8dee4 } .day { fill: #ffffff; stroke: #d8dee4 }
  .open { fill: #2da44e } .hatch { stroke: #bf8700 } .shut { fill: #fff8e5 } .today { fill: none; stroke: #0969da; stroke-width: 2.5 }
  text { fill: #1f2328; font-family: system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; font-size: 12px }
  .name { font-size: 20px; font-weight: 600 } .month { font-size: 15px; font-weight: 600 } .faint { fill: #59636e } .number { font-size: 11px }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117 } .card { fill: #161b22; stroke: #30363d } .day { fill: #0d1117; stroke: #30363d }
    .open { fill: #3fb950 } .hatch { stroke: #d29922 } .shut { fill: #272115 } .today { stroke: #58a6ff }
    text { fill: #e6edf3 } .faint { fill: #9198a1 }
  }";

/// A page of a size with a name for those who cannot see it, and with styles of its own after the shared ones.
pub fn page((width, height): (usize, usize), label: &str, style: &str, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">\n\
         <style>{STYLE}{style}\n</style>\n\
         <defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate(45)\"><line class=\"hatch\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" \
         stroke-width=\"2\"/></pattern></defs>\n\
         <rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>\n{body}</svg>\n"
    )
}

/// A text within XML.
pub fn safe(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .flat_map(|c| match c {
            '&' => "&amp;".chars().collect::<Vec<_>>(),
            '<' => "&lt;".chars().collect(),
            '>' => "&gt;".chars().collect(),
            '"' => "&quot;".chars().collect(),
            c => vec![c],
        })
        .collect()
}
