//! The services of a coordinator, whether it reigns or stands by.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::metadata::MetadataValue;
use tonic::{Request, Response, Status, Streaming};

use crate::office::Office;
use crate::tally::Tally;
use crate::wire::command::Kind as Tell;
use crate::wire::jobs_server::Jobs;
use crate::wire::membership_server::Membership;
use crate::{VERSION, wire};

/// The entry of an answer's metadata that tells a client where the active coordinator is; empty where that is not known.
pub(crate) const ACTIVE: &str = "canju-coordinator";

/// Leads everybody to the office, or tells them where another one is.
#[derive(Default)]
pub(crate) struct Door(Mutex<Standing>);

#[derive(Clone, Default)]
enum Standing {
    /// Nothing is known yet.
    #[default]
    Waiting,
    /// Another coordinator, at this URL, has the lease.
    Standby(String),
    Active(Arc<Office>),
}

impl Door {
    fn set(&self, standing: Standing) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = standing;
    }

    fn standing(&self) -> Standing {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn open(&self, office: &Arc<Office>) {
        self.set(Standing::Active(Arc::clone(office)));
    }

    pub(crate) fn close(&self) {
        self.set(Standing::Waiting);
    }

    pub(crate) fn stand_by(&self, active: &str) {
        if !matches!(self.standing(), Standing::Standby(known) if known == active) {
            tracing::info!(active, "standing by: another coordinator has the lease");
            self.set(Standing::Standby(active.to_owned()));
        }
    }

    /// What a status tells, also while the coordinator stands by.
    pub(crate) fn status(&self) -> wire::StatusReply {
        match self.standing() {
            Standing::Active(office) => office.status_reply(),
            _ => wire::StatusReply { version: VERSION.to_owned(), ..wire::StatusReply::default() },
        }
    }

    /// What was counted in this reign.
    pub(crate) fn tally(&self) -> Tally {
        match self.standing() {
            Standing::Active(office) => office.look(|conductor, _| conductor.tally.clone()),
            _ => Tally::default(),
        }
    }

    fn office(&self) -> Result<Arc<Office>, Status> {
        match self.standing() {
            Standing::Active(office) => Ok(office),
            Standing::Waiting => Err(unavailable("this coordinator waits for its lease: ask again soon", "")),
            Standing::Standby(active) => {
                Err(unavailable(&format!("this coordinator stands by; the one at {active} is active"), &active))
            }
        }
    }
}

fn unavailable(text: &str, active: &str) -> Status {
    let mut status = Status::unavailable(text);
    if let Ok(active) = MetadataValue::try_from(active) {
        status.metadata_mut().insert(ACTIVE, active);
    }
    status
}

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl Membership for Door {
    type AttendStream = ReceiverStream<Result<wire::Command, Status>>;

    async fn attend(
        self: Arc<Self>,
        request: Request<Streaming<wire::Report>>,
    ) -> Result<Response<Self::AttendStream>, Status> {
        match self.standing() {
            Standing::Active(office) => office.attend(request.into_inner()).await.map(Response::new),
            standing => {
                let coordinator = if let Standing::Standby(active) = standing { active } else { String::new() };
                let goodbye = wire::Goodbye { reason: "this coordinator stands by".into(), rejoin: true, coordinator };
                let (line, commands) = mpsc::channel(1);
                let _ = line.try_send(Ok(wire::Command { kind: Some(Tell::Goodbye(goodbye)) }));
                Ok(Response::new(ReceiverStream::new(commands)))
            }
        }
    }
}

#[tonic::async_trait]
impl Jobs for Door {
    async fn submit(
        self: Arc<Self>,
        request: Request<wire::SubmitRequest>,
    ) -> Result<Response<wire::SubmitReply>, Status> {
        let job = self.office()?.submit(request.into_inner()).await?;
        Ok(Response::new(wire::SubmitReply { job: Some(job) }))
    }

    async fn list(self: Arc<Self>, _: Request<wire::ListRequest>) -> Result<Response<wire::ListReply>, Status> {
        let jobs = self.office()?.look(|conductor, now| conductor.jobs(now));
        Ok(Response::new(wire::ListReply { jobs }))
    }

    async fn status(self: Arc<Self>, _: Request<wire::StatusRequest>) -> Result<Response<wire::StatusReply>, Status> {
        Ok(Response::new(self.office()?.status_reply()))
    }

    type WatchStream = Answers<wire::Job>;

    async fn watch(
        self: Arc<Self>,
        request: Request<wire::WatchRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let job = request.into_inner().job.parse()?;
        Ok(Response::new(Box::pin(self.office()?.watch(job)?)))
    }

    async fn cancel(self: Arc<Self>, request: Request<wire::CancelRequest>) -> Result<Response<wire::Job>, Status> {
        let job = request.into_inner().job.parse()?;
        Ok(Response::new(self.office()?.cancel(job).await?))
    }
}
