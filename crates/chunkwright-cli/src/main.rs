//! The program `chunkwright`.

use std::process::ExitCode;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Allocators reserve far more address space than they use: 64 MB for each parsing thread, and a gigabyte at once. If
/// the system limits address space, this program restarts itself with smaller reserves, which can only be set this way.
#[cfg(target_os = "linux")]
fn begin_again_with_small_reserves() {
    use std::os::unix::process::CommandExt as _;
    const ARENAS: &str = "MALLOC_ARENA_MAX";
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let is_limited = |line: &str| line.starts_with("Max address space") && !line.contains("unlimited");
    if std::env::var_os(ARENAS).is_none()
        && limits.lines().any(is_limited)
        && let Ok(program) = std::env::current_exe()
    {
        let mut again = std::process::Command::new(program);
        again.args(std::env::args_os().skip(1)).env(ARENAS, "1").env("MIMALLOC_ARENA_RESERVE", "16384");
        // `exec` returns only on failure; then this process continues as it is.
        let _ = again.exec();
    }
}

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    begin_again_with_small_reserves();
    if let Ok(program) = std::env::current_exe() {
        chunkwright_engine::convert::contain_in(vec![program.into()]);
    }
    ExitCode::from(chunkwright_cli::run(&std::env::args_os().collect::<Vec<_>>()))
}
