//! Where other workers reach this one, when it listens on every address and was not told which is its own: the address
//! of the interface that leads to the coordinator, which the others reach too.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use tokio::net::{UdpSocket, lookup_host};

/// How long to wait before the coordinators' names are looked up again.
const PAUSE: Duration = Duration::from_secs(1);

/// The address to advertise: what the command line says, or what is found out where it says `auto`, or nothing and
/// listens on every address. None leaves it to the worker.
///
/// Waits until one of the coordinators has a name that is known and a way to it.
///
/// # Errors
/// When a coordinator has no host and port, or the port to listen on is left to the system.
pub(crate) async fn advertised(
    told: Option<String>,
    listen: SocketAddr,
    coordinators: &[String],
) -> Result<Option<String>> {
    match told {
        Some(told) if told != "auto" => return Ok(Some(told)),
        None if !listen.ip().is_unspecified() || listen.port() == 0 => return Ok(None),
        _ => {}
    }
    if listen.port() == 0 {
        bail!("--advertise auto needs a port that is known: give --listen {}:PORT", listen.ip());
    }
    let hosts = coordinators.iter().map(|url| host(url)).collect::<Result<Vec<_>>>()?;
    let mut warned = false;
    loop {
        let mut failed = anyhow!("no address");
        for host in &hosts {
            match leaving_by(host).await {
                Ok(ip) => return Ok(Some(SocketAddr::new(ip, listen.port()).to_string())),
                Err(error) => failed = error,
            }
        }
        if !warned {
            tracing::warn!("{failed:#}; trying again");
            warned = true;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// `HOST:PORT` of a URL.
fn host(url: &str) -> Result<String> {
    let url = url.trim();
    let bare = url.split_once("://").map_or(url, |(_, bare)| bare);
    let host = bare.split('/').next().unwrap_or_default();
    match host.rsplit_once(':') {
        Some((name, port)) if !name.is_empty() && port.parse::<u16>().is_ok() => Ok(host.to_owned()),
        _ => bail!("{url:?} is no URL of a coordinator: write http://HOST:PORT"),
    }
}

/// The address from which packets to a host would leave. None is sent.
async fn leaving_by(host: &str) -> Result<IpAddr> {
    let found = lookup_host(host).await.with_context(|| format!("the coordinator's host {host} is not known yet"))?;
    let mut failed = anyhow!("the coordinator's host {host} has no address");
    for to in found {
        let any: IpAddr = if to.is_ipv4() { [0; 4].into() } else { [0_u16; 8].into() };
        let tried = async {
            let socket = UdpSocket::bind((any, 0)).await?;
            socket.connect(to).await?;
            socket.local_addr()
        };
        match tried.await {
            Ok(local) => return Ok(local.ip()),
            Err(error) => failed = anyhow!(error).context(format!("no way leads to the coordinator at {to}")),
        }
    }
    Err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn found(told: Option<&str>, listen: &str, coordinators: &str) -> Result<Option<String>> {
        let coordinators: Vec<String> = coordinators.split(',').map(str::to_owned).collect();
        advertised(told.map(str::to_owned), listen.parse()?, &coordinators).await
    }

    #[tokio::test]
    async fn the_interface_that_leads_to_the_coordinator_is_found() {
        for told in [None, Some("auto")] {
            let address = found(told, "0.0.0.0:7430", "http://127.0.0.1:7420").await.unwrap();
            assert_eq!(address.as_deref(), Some("127.0.0.1:7430"), "{told:?}");
        }
        let second =
            found(Some("auto"), "[::]:9", "http://no.such.host.invalid:1, https://127.0.0.1:2/").await.unwrap();
        assert_eq!(second.as_deref(), Some("127.0.0.1:9"));
    }

    #[tokio::test]
    async fn what_is_told_or_known_is_left_alone() {
        let told = found(Some("a.example:1"), "0.0.0.0:7430", "nonsense").await.unwrap();
        assert_eq!(told.as_deref(), Some("a.example:1"));
        assert_eq!(found(None, "127.0.0.1:7430", "nonsense").await.unwrap(), None);
        assert_eq!(found(None, "0.0.0.0:0", "nonsense").await.unwrap(), None);
    }

    #[tokio::test]
    async fn what_cannot_be_found_out_is_refused() {
        let port = found(Some("auto"), "0.0.0.0:0", "http://127.0.0.1:7420").await.unwrap_err();
        assert!(port.to_string().contains("--listen 0.0.0.0:PORT"), "{port}");
        for url in ["", "http://", "host", "http://:7420", "http://host:port"] {
            let error = found(Some("auto"), "0.0.0.0:7430", url).await.unwrap_err();
            assert!(error.to_string().contains("no URL of a coordinator"), "{url}: {error}");
        }
    }
}
