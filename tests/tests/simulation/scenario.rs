//! What happens in a simulation, drawn from its seed.

use std::ops::Range;

use fastrand::Rng;

/// Something that begins to go wrong, or goes well again.
#[derive(Clone, Debug)]
pub enum Event {
    /// The host's processes end, with or without a farewell of its connections.
    Crash {
        host: String,
        silent: bool,
    },
    Start(String),
    /// Nothing gets from the first to the second.
    Cut(String, String),
    Mend(String, String),
    /// Messages between them wait.
    Hold(String, String),
    Release(String, String),
    /// The store cannot be reached, by nobody or by one.
    StoreAway(Option<String>),
    StoreBack(Option<String>),
    /// A worker is told to stop, and starts again.
    Drain(String),
    /// What was sent over some connection is sent again.
    Replay(usize),
    /// A finished shard is damaged.
    Damage(usize),
    /// A checkpoint is damaged.
    Blot(usize),
    /// Something else lies where a shard is to be.
    Litter(usize),
}

/// A whole course of events.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub seed: u64,
    pub coordinators: usize,
    pub workers: usize,
    pub tables: Vec<String>,
    pub metrics: Vec<String>,
    /// Tables of fewer cells go whole to one worker.
    pub cut_from: u64,
    /// The longest way of a message, in milliseconds.
    pub latency: u64,
    /// Milliseconds of a call of the store, and how many of a thousand fail or lose their answer.
    pub store_delay: Range<u64>,
    pub store_fails: u32,
    pub store_lost: u32,
    /// Events and their times in milliseconds, in order.
    pub events: Vec<(u64, Event)>,
    /// When all is well again, in milliseconds.
    pub healed: u64,
}

/// What a test wants of its scenarios.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wish {
    /// The store never fails.
    pub good_store: bool,
    /// Tables are always cut.
    pub cut: bool,
    /// More than one coordinator.
    pub standby: bool,
    /// Finished shards are damaged.
    pub damage: bool,
    /// What happens in any case.
    pub focus: Option<Focus>,
}

/// Trouble of one kind.
#[derive(Clone, Copy, Debug)]
pub enum Focus {
    /// Workers that no coordinator reaches, and other workers do.
    Stray,
    /// A coordinator that does not reach the store, nor anybody else.
    Deposed,
    /// Damaged checkpoints, and workers that are lost.
    Blots,
    /// Something else where shards are to be.
    Litter,
}

pub fn coordinator(number: usize) -> String {
    format!("c{number}")
}

pub fn worker(number: usize) -> String {
    format!("w{number}")
}

impl Scenario {
    /// Nothing goes wrong, and one worker does it all.
    pub fn calm(tables: &[&str], metrics: &[&str]) -> Self {
        let words = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
        Self {
            seed: 0,
            coordinators: 1,
            workers: 1,
            tables: words(tables),
            metrics: words(metrics),
            cut_from: u64::MAX,
            latency: 2,
            store_delay: 0..1,
            store_fails: 0,
            store_lost: 0,
            events: Vec::new(),
            healed: 0,
        }
    }

    /// The scenario of a seed.
    pub fn draw(seed: u64, wish: Wish) -> Self {
        let mut random = Rng::with_seed(seed ^ 0x5eed);
        let coordinators = if wish.standby { 2 } else { random.usize(1..=2) };
        let workers = random.usize(3..=4);
        let cut_from = if wish.cut || random.u8(..4) > 0 { 0 } else { [700, u64::MAX][random.usize(..2)] };
        let (fails, lost) = match random.u8(..3) {
            _ if wish.good_store => (0, 0),
            0 => (0, 0),
            1 => (random.u32(..30), random.u32(..30)),
            _ => (random.u32(..150), random.u32(..100)),
        };
        let mut scenario = Self {
            seed,
            coordinators,
            workers,
            tables: vec!["T3".into()],
            metrics: if random.bool() { vec!["dtm".into()] } else { vec!["dtm".into(), "dtc".into()] },
            cut_from,
            latency: random.u64(2..60),
            store_delay: 0..random.u64(1..80),
            store_fails: fails,
            store_lost: lost,
            events: Vec::new(),
            healed: random.u64(4_000..16_000),
        };
        for _ in 0..random.usize(1..=8) {
            scenario.draw_event(&mut random, wish);
        }
        if let Some(focus) = wish.focus {
            scenario.focus(&mut random, focus);
        }
        scenario.events.sort_by_key(|(at, _)| *at);
        scenario
    }

    fn focus(&mut self, random: &mut Rng, focus: Focus) {
        self.healed = self.healed.max(12_000);
        let begin = random.u64(300..2500);
        let coordinators = (0..self.coordinators).map(coordinator);
        match focus {
            Focus::Stray => {
                let host = worker(random.usize(..self.workers));
                let end = begin + random.u64(5_000..9_000);
                for other in coordinators {
                    self.events.extend([
                        (begin, Event::Cut(host.clone(), other.clone())),
                        (begin, Event::Cut(other.clone(), host.clone())),
                        (end, Event::Mend(host.clone(), other.clone())),
                        (end, Event::Mend(other.clone(), host.clone())),
                    ]);
                }
                let replays = (0..80).map(|_| (random.u64(1_000..12_000), Event::Replay(random.usize(..))));
                self.events.extend(replays.collect::<Vec<_>>());
            }
            Focus::Deposed => {
                self.healed += 12_000;
                for (turn, host) in (0..).zip(coordinators) {
                    let begin = begin + turn * 10_000;
                    self.events.push((begin, Event::StoreAway(Some(host.clone()))));
                    self.events.push((begin + random.u64(5_000..9_000), Event::StoreBack(Some(host))));
                }
            }
            Focus::Blots => {
                let blots = (0..100).map(|_| (random.u64(300..12_000), Event::Blot(random.usize(..))));
                self.events.extend(blots.collect::<Vec<_>>());
                for host in (0..self.workers).map(worker) {
                    let begin = random.u64(1_500..10_000);
                    self.events.push((begin, Event::Crash { host: host.clone(), silent: false }));
                    self.events.push((begin + random.u64(500..2_000), Event::Start(host)));
                }
            }
            Focus::Litter => self.events.extend((0..9).map(|_| (0, Event::Litter(random.usize(..))))),
        }
    }

    /// Something goes wrong for a while.
    fn draw_event(&mut self, random: &mut Rng, wish: Wish) {
        let begin = random.u64(200..self.healed - 1000);
        let short = random.bool();
        let end = if short { begin + random.u64(50..3000) } else { random.u64(begin..self.healed) }.min(self.healed);
        let a_worker = |random: &mut Rng| worker(random.usize(..self.workers));
        let anybody = |random: &mut Rng| {
            let number = random.usize(..self.workers + self.coordinators);
            number.checked_sub(self.workers).map_or_else(|| worker(number), coordinator)
        };
        let pair = |random: &mut Rng| {
            let first = a_worker(random);
            loop {
                let second = anybody(random);
                if first != second {
                    return if random.bool() { (first, second) } else { (second, first) };
                }
            }
        };
        let mut add = |at: u64, event: Event| self.events.push((at, event));
        match random.u8(..if wish.damage { 14 } else { 13 }) {
            0..3 => {
                let host = anybody(random);
                add(begin, Event::Crash { host: host.clone(), silent: random.bool() });
                add(end, Event::Start(host));
            }
            3 => {
                let (a, b) = pair(random);
                add(begin, Event::Cut(a.clone(), b.clone()));
                add(begin, Event::Cut(b.clone(), a.clone()));
                add(end, Event::Mend(a.clone(), b.clone()));
                add(end, Event::Mend(b, a));
            }
            4 => {
                let (a, b) = pair(random);
                add(begin, Event::Cut(a.clone(), b.clone()));
                add(end, Event::Mend(a, b));
            }
            5 => {
                let (a, b) = pair(random);
                add(begin, Event::Hold(a.clone(), b.clone()));
                add(end, Event::Release(a, b));
            }
            6 => {
                // One that hears nobody and is heard by nobody, its timers apart.
                let host = anybody(random);
                let others = (0..self.workers).map(worker).chain((0..self.coordinators).map(coordinator));
                for other in others.filter(|other| *other != host).collect::<Vec<_>>() {
                    self.events.push((begin, Event::Hold(host.clone(), other.clone())));
                    self.events.push((end, Event::Release(host.clone(), other)));
                }
                self.events.push((begin, Event::StoreAway(Some(host.clone()))));
                self.events.push((end, Event::StoreBack(Some(host))));
            }
            7 if !wish.good_store => {
                let host = if random.bool() { Some(anybody(random)) } else { None };
                add(begin, Event::StoreAway(host.clone()));
                add(end, Event::StoreBack(host));
            }
            8 => add(begin, Event::Drain(a_worker(random))),
            9 | 10 | 7 => {
                for _ in 0..random.usize(1..6) {
                    add(begin + random.u64(..2000), Event::Replay(random.usize(..)));
                }
            }
            11 => {
                for _ in 0..random.usize(1..20) {
                    add(begin + random.u64(..end - begin + 1), Event::Blot(random.usize(..)));
                }
            }
            12 => {
                for _ in 0..random.usize(1..6) {
                    add(random.u64(..begin), Event::Litter(random.usize(..)));
                }
            }
            _ => add(begin, Event::Damage(random.usize(..))),
        }
    }
}
