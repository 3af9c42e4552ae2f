use std::collections::{HashMap, VecDeque, BTreeMap};
use reenact_ambient::{Source, at::Program};
use reenact_multiverse::Semantics;
fn main() {
    let file = std::env::args().nth(1).unwrap();
    let p = match Program::new(Source::new(file.clone(), std::fs::read_to_string(&file).unwrap())) { Ok(p) => p, Err(e) => { println!("{:?}", miette::Report::new(e)); return } };
    let t = std::time::Instant::now();
    let mut seen: HashMap<_, Option<(u32, _)>> = HashMap::new();
    let mut all = vec![];
    let mut q = VecDeque::new();
    for s in p.initial() { seen.insert(s.clone(), None); all.push(s.clone()); q.push_back((0u32, s)); }
    let mut edges = 0; let mut ends = vec![];
    while let Some((n, s)) = q.pop_front() {
        let steps = p.steps(&s);
        if steps.is_empty() { ends.push((n, s.clone())); }
        for st in steps { edges += 1; let x = p.take(&s, &st);
            if !seen.contains_key(&x) { let m = all.len() as u32; all.push(x.clone()); seen.insert(x.clone(), Some((n, st))); q.push_back((m, x)); } }
        if all.len() > 3_000_000 { println!("bounded"); break }
    }
    let el = t.elapsed();
    println!("{} states {} edges {} ends; {:?}; {:.0} states/s; shared {} bytes", all.len(), edges, ends.len(), el, all.len() as f64 / el.as_secs_f64(), p.shared_bytes());
    let mut by: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (n, s) in &ends { by.entry(p.ending(s)).or_default().push(*n); }
    for (e, ns) in &by {
        println!("{} ends: {e:?}", ns.len());
        let mut path = vec![]; let mut at = ns[0];
        while let Some((from, st)) = &seen[&all[at as usize]] { path.push((*from, *st)); at = *from; }
        path.reverse();
        let last = &all[ns[0] as usize];
        for (from, st) in path { println!("   {} {}", p.name(last, p.activity(&st)), p.tell(&all[from as usize], &st, &|a| p.name(last, a))); }
    }
}
