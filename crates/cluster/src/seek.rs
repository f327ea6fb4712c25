//! Finds the active one of several coordinators: one may hang, which takes connections and says nothing, and one may not
//! know yet that another has taken its place.

use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::time::{Instant, sleep, sleep_until};

use crate::{ClusterError, Network, is_well};

/// How long one is waited for alone; then the next one is asked beside it.
pub(crate) const ALONE: Duration = Duration::from_secs(2);
/// The pause before one that is not active is asked again while another one is still waited for.
const AGAIN: Duration = Duration::from_secs(1);

/// What a coordinator is, by its own words; a later one is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// It stands by, or waits for its lease.
    Standby,
    /// It was active when it last heard of its lease.
    Unsure,
    Active,
}

/// What was heard of one of them.
pub(crate) type Heard<T> = Result<(Standing, T), ClusterError>;

/// The first of these that says it is active. The next one is asked when nothing was heard of the one before for a while, or
/// at once when it is not active; all that were asked are still listened to.
///
/// # Errors
/// When none is, what was heard last of each, in their order.
pub(crate) async fn seek<T, F: Future<Output = Heard<T>>>(
    urls: &[String],
    look: impl Fn(String) -> F,
) -> Result<T, Vec<Heard<T>>> {
    let look = &look;
    let ask = |number: usize, url: &str, pause: Duration| {
        let url = url.to_owned();
        async move {
            sleep(pause).await;
            (number, look(url).await)
        }
    };
    let mut asked = FuturesUnordered::new();
    let mut heard: Vec<Option<Heard<T>>> = urls.iter().map(|_| None).collect();
    let mut rest = urls.iter().enumerate();
    let mut silent = 0;
    let mut until = Instant::now();
    loop {
        if silent == 0 || until <= Instant::now() {
            match rest.next() {
                Some((number, url)) => {
                    asked.push(ask(number, url, Duration::ZERO));
                    silent += 1;
                    until = Instant::now() + ALONE;
                }
                None if silent == 0 => return Err(heard.into_iter().flatten().collect()),
                None => {}
            }
        }
        tokio::select! {
            biased;
            Some((number, answer)) = asked.next() => {
                let (place, url) = match (heard.get_mut(number), urls.get(number)) {
                    (Some(place), Some(url)) => (place, url),
                    _ => continue,
                };
                if place.is_none() {
                    silent -= 1;
                    until = Instant::now();
                }
                match answer {
                    Ok((Standing::Active, found)) => return Ok(found),
                    // Perhaps it takes the place of the one that is silent.
                    Ok(other) => {
                        asked.push(ask(number, url, AGAIN));
                        *place = Some(Ok(other));
                    }
                    Err(error) => *place = Some(Err(error)),
                }
            }
            () = sleep_until(until), if rest.len() > 0 => {}
        }
    }
}

/// The best of what was heard, of equals the first.
///
/// # Errors
/// What is wrong with the first, where nothing better was heard of any.
pub(crate) fn best<T>(heard: Vec<Heard<T>>) -> Result<T, ClusterError> {
    let mut best: Option<(Standing, T)> = None;
    let mut wrong = None;
    for answer in heard {
        match answer {
            Ok(one) if best.as_ref().is_none_or(|(standing, _)| *standing < one.0) => best = Some(one),
            Ok(_) => {}
            Err(error) => wrong = wrong.or(Some(error)),
        }
    }
    match (best, wrong) {
        (Some((_, found)), _) => Ok(found),
        (None, Some(error)) => Err(error),
        (None, None) => Err(ClusterError::Refused("no URL of a coordinator is given".into())),
    }
}

/// As [`seek`], by the service of the health protocol.
pub(crate) async fn seek_well(
    network: &Network,
    what: &'static str,
    urls: &[String],
    service: &str,
) -> Result<String, Vec<Heard<String>>> {
    seek(urls, |url| async move {
        let well = is_well(network, what, &url, service).await?;
        Ok((if well { Standing::Active } else { Standing::Standby }, url))
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Coordinators by their names: `a` is active, `u` unsure, `s` stands by, `x` is away, `h` hangs for 20 s, and `t` stands
    /// by until it takes over after 5 s. Tells what was found, and when it was asked for what.
    async fn sought(names: &str) -> (Result<String, String>, Vec<String>) {
        let urls: Vec<String> = names.chars().map(String::from).collect();
        let began = Instant::now();
        let asked = RefCell::new(Vec::new());
        let found = seek(&urls, |url| {
            let now = began.elapsed();
            asked.borrow_mut().push(format!("{url}{}", now.as_secs()));
            async move {
                let standing = match url.as_str() {
                    "a" => Standing::Active,
                    "t" if began.elapsed() >= Duration::from_secs(5) => Standing::Active,
                    "u" => Standing::Unsure,
                    "s" | "t" => Standing::Standby,
                    other => {
                        if other == "h" {
                            sleep(Duration::from_secs(20)).await;
                        }
                        return Err(ClusterError::Remote(format!("no {other}")));
                    }
                };
                Ok((standing, url))
            }
        })
        .await;
        (found.or_else(best).map_err(|e| e.line()), asked.into_inner())
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_hangs_costs_two_seconds() {
        assert_eq!(sought("ha").await, (Ok("a".into()), vec!["h0".into(), "a2".into()]));
        assert_eq!(sought("ah").await, (Ok("a".into()), vec!["a0".into()]));
        assert_eq!(sought("hha").await, (Ok("a".into()), vec!["h0".into(), "h2".into(), "a4".into()]));
        // One that is asked again and again holds up no other.
        assert_eq!(sought("hsa").await, (Ok("a".into()), ["h0", "s2", "a2"].map(String::from).into()));
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_one_is_asked_at_once_where_one_is_not_active() {
        for names in ["sa", "ua", "xa", "sxua"] {
            let (found, asked) = sought(names).await;
            assert_eq!(found, Ok("a".to_owned()), "{names}");
            assert!(asked.iter().all(|at| at.ends_with('0')), "{asked:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_takes_over_from_one_that_hangs_is_found() {
        let (found, asked) = sought("ht").await;
        assert_eq!(found, Ok("t".to_owned()));
        assert_eq!(asked.last().map(String::as_str), Some("t5"), "{asked:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn without_an_active_one_the_best_is_taken() {
        assert_eq!(sought("sus").await.0, Ok("u".to_owned()));
        assert_eq!(sought("xs").await.0, Ok("s".to_owned()));
        assert_eq!(sought("hu").await.0, Ok("u".to_owned()));
        assert_eq!(sought("xh").await.0, Err("no x".to_owned()));
        assert!(sought("").await.0.is_err());
    }
}
