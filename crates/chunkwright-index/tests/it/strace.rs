//! Checks that programs can be run under `strace`. The tests of the command line include this file too.

use std::process::Command;

/// Whether programs can be traced here; says so if not.
pub(crate) fn is_there() -> bool {
    let traced = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).output();
    let is_there = traced.is_ok_and(|output| output.status.success());
    if !is_there {
        println!("not checked: `strace` is not there, or may not trace");
    }
    is_there
}
