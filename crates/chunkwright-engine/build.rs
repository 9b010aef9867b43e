//! Writes the table of the files in `dist`: what `cargo xtask web` built, or nothing.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).ok_or(io::ErrorKind::NotFound);
    let dist = variable("CARGO_MANIFEST_DIR")?.join("dist");
    // A folder that is not there would make every build start over; the one around it changes when it appears.
    let watched = if dist.is_dir() { "dist" } else { "." };
    println!("cargo::rerun-if-changed={watched}");
    println!("cargo::rerun-if-changed=build.rs");
    let out = variable("OUT_DIR")?;
    let mut files = Vec::new();
    walk(&dist, &mut files)?;
    files.sort();
    let mut table = String::from("const FILES: &[(&str, &[u8])] = &[\n");
    for (number, path) in files.iter().enumerate() {
        let Ok(name) = path.strip_prefix(&dist) else { continue };
        let name = name.to_string_lossy().replace('\\', "/");
        // A copy: the page may be built again before the table is compiled.
        let copy = out.join(number.to_string());
        fs::copy(path, &copy)?;
        writeln!(table, "    ({name:?}, include_bytes!({:?})),", copy.display().to_string())
            .map_err(io::Error::other)?;
    }
    table.push_str("];\n");
    fs::write(out.join("files.rs"), table)
}

/// Adds the files below a folder; none where there is no folder.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
