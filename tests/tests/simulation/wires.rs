//! The network of a simulation: turmoil's, with a memory for what was sent, so that it can come again.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use async_trait::async_trait;
use canju_cluster::{Connection, Listening, Network, Transport};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use turmoil::net::{TcpListener, TcpStream};

/// Bytes that are remembered of a connection.
const MEMORY: usize = 64 << 10;
/// Connections that are remembered.
const CONNECTIONS: usize = 64;

/// What was sent over one connection.
#[derive(Clone)]
pub struct Tape {
    pub host: String,
    pub port: u16,
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Tape {
    pub fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap().clone()
    }
}

/// The wires between all hosts.
#[derive(Clone, Default)]
pub struct Wires(Arc<Mutex<Vec<Tape>>>);

impl Wires {
    pub fn network(&self) -> Network {
        Network::new(Arc::new(self.clone()))
    }

    pub fn tapes(&self) -> Vec<Tape> {
        self.0.lock().unwrap().clone()
    }
}

#[async_trait]
impl Transport for Wires {
    async fn listen(&self, address: SocketAddr) -> io::Result<Box<dyn Listening>> {
        Ok(Box::new(Ear(TcpListener::bind(address).await?)))
    }

    async fn connect(&self, host: &str, port: u16) -> io::Result<Connection> {
        let stream = TcpStream::connect((host, port)).await?;
        let tape = Tape { host: host.to_owned(), port, bytes: Arc::default() };
        {
            let mut tapes = self.0.lock().unwrap();
            if tapes.len() < CONNECTIONS {
                tapes.push(tape.clone());
            }
        }
        Ok(Box::new(Taped { stream, tape }))
    }
}

struct Ear(TcpListener);

#[async_trait]
impl Listening for Ear {
    async fn accept(&self) -> io::Result<(Connection, SocketAddr)> {
        let (stream, peer) = self.0.accept().await?;
        Ok((Box::new(stream), peer))
    }

    fn address(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

struct Taped {
    stream: TcpStream,
    tape: Tape,
}

impl AsyncRead for Taped {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Taped {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        if let Poll::Ready(Ok(count)) = written {
            let mut tape = self.tape.bytes.lock().unwrap();
            if tape.len() < MEMORY {
                tape.extend_from_slice(&bytes[..count]);
            }
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
