//! A network within the process, for tests with a clock that is stopped.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use canju_cluster::{Connection, Listening, Network, Transport};
use tokio::io::DuplexStream;
use tokio::sync::mpsc;

/// Connections lead to who listens on the port, whatever the host.
#[derive(Default)]
pub struct Pipes(Mutex<BTreeMap<u16, mpsc::UnboundedSender<DuplexStream>>>);

impl Pipes {
    pub fn network() -> (Arc<Self>, Network) {
        let pipes = Arc::new(Self::default());
        let transport: Arc<dyn Transport> = Arc::clone(&pipes) as _;
        (pipes, Network::new(transport))
    }

    /// A connection without anything that speaks over it.
    pub fn dial(&self, port: u16) -> io::Result<DuplexStream> {
        let (near, far) = tokio::io::duplex(1 << 16);
        let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
        self.0.lock().unwrap().get(&port).ok_or_else(refused)?.send(far).map_err(|_| refused())?;
        Ok(near)
    }
}

struct Mouth(tokio::sync::Mutex<mpsc::UnboundedReceiver<DuplexStream>>, SocketAddr);

#[tonic::async_trait]
impl Transport for Pipes {
    async fn listen(&self, address: SocketAddr) -> io::Result<Box<dyn Listening>> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.0.lock().unwrap().insert(address.port(), sender);
        Ok(Box::new(Mouth(receiver.into(), address)))
    }

    async fn connect(&self, _: &str, port: u16) -> io::Result<Connection> {
        Ok(Box::new(self.dial(port)?))
    }
}

#[tonic::async_trait]
impl Listening for Mouth {
    async fn accept(&self) -> io::Result<(Connection, SocketAddr)> {
        let end = self.0.lock().await.recv().await;
        Ok((Box::new(end.ok_or(io::ErrorKind::NotConnected)?), self.1))
    }

    fn address(&self) -> io::Result<SocketAddr> {
        Ok(self.1)
    }
}
