use reenact_ambient::{Source, at::Program};
use reenact_multiverse::*;
fn main() {
    let file = std::env::args().nth(1).unwrap();
    let workers: usize = std::env::args().nth(2).map_or(1, |n| n.parse().unwrap());
    let red = match std::env::args().nth(3).as_deref() { Some("p") => Reduction::Persistent, Some("s") => Reduction::SleepSets, _ => Reduction::None };
    let p = match Program::new(Source::new(file.clone(), std::fs::read_to_string(&file).unwrap())) { Ok(p) => p, Err(e) => { println!("{:?}", miette::Report::new(e)); return } };
    let t = std::time::Instant::now();
    let g = Search::of(&p).workers(workers).reduction(red).bounds(Bounds { bytes: Some(8 << 30), ..Default::default() }).run();
    let el = t.elapsed();
    println!("{} states {} edges {} ends; {:?}; {:.0} states/s; shared {} bytes; {} per state {}", g.len(), g.edge_count(), g.ends().count(), el, g.len() as f64 / el.as_secs_f64(), p.shared_bytes(), g.bytes_per_state(), g.coverage());
    if std::env::args().nth(4).is_some() { return }
    for o in &g.outcomes(&p).0 { println!("{o:?}"); }
}
