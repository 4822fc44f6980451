//! Links between the pages of the site: all lead somewhere.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Looks at every link of the pages in a folder that leads to a file, and at the place in it. The reference of Rust is led to, but not
/// looked through: rustdoc does that.
pub fn check(site: &Path) -> Result<()> {
    let mut pages = Vec::new();
    gather(site, &mut pages)?;
    let mut places = HashMap::new();
    let (mut links, mut dead) = (0, Vec::new());
    for page in &pages {
        let html = read(page)?;
        for link in values(&html, "href=\"").chain(values(&html, "src=\"")) {
            if link.contains("://") || link.starts_with("data:") || link.starts_with("mailto:") {
                continue;
            }
            links += 1;
            if let Some(reason) = fault(site, page, &link, &mut places)? {
                dead.push(format!("{}: {link} {reason}", page.strip_prefix(site).unwrap_or(page).display()));
            }
        }
    }
    dead.sort();
    dead.dedup();
    if !dead.is_empty() {
        bail!("{} dead links:\n  {}", dead.len(), dead.join("\n  "));
    }
    println!("{links} links of {} pages lead somewhere", pages.len());
    Ok(())
}

/// The pages written here, but for the reference of Rust.
fn gather(folder: &Path, pages: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            if !path.ends_with("html/rust") {
                gather(&path, pages)?;
            }
        } else if path.extension().is_some_and(|end| end == "html") && !path.ends_with("404.html") {
            pages.push(path);
        }
    }
    Ok(())
}

/// Why a link leads nowhere, if it does.
fn fault(
    site: &Path,
    page: &Path,
    link: &str,
    places: &mut HashMap<PathBuf, HashSet<String>>,
) -> Result<Option<&'static str>> {
    let (file, place) = link.split_once('#').unwrap_or((link, ""));
    let file = file.split('?').next().unwrap_or_default();
    let folder = page.parent().unwrap_or(site);
    let mut target = match file.strip_prefix('/') {
        _ if file.is_empty() => page.to_owned(),
        Some(file) => site.join(file),
        None => folder.join(file),
    };
    if target.is_dir() {
        target = target.join("index.html");
    }
    if !target.is_file() {
        return Ok(Some("is no file"));
    }
    let target = target.canonicalize()?;
    if place.is_empty() || target.extension().is_none_or(|end| end != "html") {
        return Ok(None);
    }
    if !places.contains_key(&target) {
        let html = read(&target)?;
        places.insert(target.clone(), values(&html, "id=\"").chain(values(&html, "name=\"")).collect());
    }
    Ok((!places[&target].contains(place)).then_some("is no place in its page"))
}

fn read(page: &Path) -> Result<String> {
    fs::read_to_string(page).with_context(|| format!("cannot read {}", page.display()))
}

/// The values of an attribute.
fn values<'a>(html: &'a str, attribute: &'a str) -> impl Iterator<Item = String> + 'a {
    html.split(attribute)
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .map(|value| decoded(&value.replace("&amp;", "&").replace("&#34;", "\"").replace("&quot;", "\"")))
}

/// A link whose bytes are not written as % and two digits.
fn decoded(link: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), link.as_bytes());
    while let [first, others @ ..] = rest {
        let digits = others.get(..2).filter(|_| *first == b'%').and_then(|two| std::str::from_utf8(two).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &others[2..];
            }
            None => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_links_are_found() {
        let site = std::env::temp_dir().join(format!("diad-links-{}", std::process::id()));
        fs::create_dir_all(site.join("other")).unwrap();
        fs::write(site.join("other/index.html"), "<h1 id=\"größe\"></h1><a href=\"../\">up</a>").unwrap();
        let write = |links: &str| fs::write(site.join("index.html"), links).unwrap();
        write("<a href=\"other/#gr%C3%B6%C3%9Fe\">there</a> <a href=\"https://example.org/none\">out</a>");
        check(&site).unwrap();
        for dead in ["other/#none", "none.html", "/none/"] {
            write(&format!("<a href=\"{dead}\">there</a>"));
            assert!(check(&site).unwrap_err().to_string().contains(dead));
        }
        fs::remove_dir_all(site).unwrap();
    }
}
