//! What the coordinator answers: to workers that join, and to clients.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

use crate::commit::present;
use crate::coordinator::Office;
use crate::entry::{MEMBERS, check_hello, check_submit};
use crate::plan::{Plan, closure, parse_metrics, parse_tables};
use crate::wire::jobs_server::Jobs;
use crate::wire::membership_server::Membership;
use crate::wire::{command::Kind as Tell, report::Kind as Said};
use crate::{ClusterError, JobId, MemberId, wire};

/// Commands that may wait for a worker's connection.
const LINE: usize = 1024;
/// How long a worker may take to say who it is.
const HELLO: Duration = Duration::from_secs(10);
/// The shortest time between two pictures of a job that is watched.
const PICTURES: Duration = Duration::from_millis(50);

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl Membership for Office {
    type AttendStream = ReceiverStream<Result<wire::Command, Status>>;

    async fn attend(
        self: Arc<Self>,
        request: Request<Streaming<wire::Report>>,
    ) -> Result<Response<Self::AttendStream>, Status> {
        let mut reports = request.into_inner();
        let first = tokio::time::timeout(HELLO, reports.message()).await;
        let first = first.map_err(|_| Status::deadline_exceeded("a worker says Hello at once"))??;
        let Some(wire::Report { kind: Some(Said::Hello(hello)), .. }) = first else {
            return Err(Status::failed_precondition("a worker's first word is Hello"));
        };
        if self.look(|conductor, _| conductor.members.len()) >= MEMBERS {
            return Err(Status::resource_exhausted(format!("there are {MEMBERS} workers already: stop some")));
        }
        let (line, commands) = mpsc::channel(LINE);
        if let Err(error) = check_hello(&hello) {
            let reason = error.line();
            let goodbye = Tell::Goodbye(wire::Goodbye { reason, rejoin: false });
            let _ = line.try_send(Ok(wire::Command { kind: Some(goodbye) }));
            return Ok(Response::new(ReceiverStream::new(commands)));
        }
        let member = self.with(|conductor, now| {
            let (member, epoch) = conductor.join(now, &hello);
            let welcome = wire::Welcome {
                worker: member.0,
                epoch,
                store: self.settings.store.clone(),
                store_id: self.identity.clone(),
                heartbeat_millis: self.settings.heartbeat.as_millis() as u64,
            };
            let _ = line.try_send(Ok(wire::Command { kind: Some(Tell::Welcome(welcome)) }));
            self.pick_up(member, line);
            member
        });
        tokio::spawn(Arc::clone(&self).listen_to(member, reports));
        Ok(Response::new(ReceiverStream::new(commands)))
    }
}

impl Office {
    /// Takes a worker's reports until its stream ends.
    async fn listen_to(self: Arc<Self>, member: MemberId, mut reports: Streaming<wire::Report>) {
        let reason = loop {
            match reports.message().await {
                Ok(Some(wire::Report { kind: Some(Said::Leaving(leaving)), .. })) => break leaving.reason,
                Ok(Some(report)) => {
                    if let Err(error) = self.with(|conductor, now| conductor.report(now, member, report)) {
                        break error.line();
                    }
                }
                Ok(None) => break "it closed its connection".to_owned(),
                Err(_) => break "its connection broke".to_owned(),
            }
        };
        self.with(|conductor, now| conductor.leave(now, member, &reason));
        self.hang_up(member, wire::Goodbye { reason, rejoin: true });
    }

    /// A plan, and how many commits there were before the store was read for it.
    async fn plan(&self, request: wire::SubmitRequest) -> Result<(Plan, u64), ClusterError> {
        check_submit(&request)?;
        let metrics = parse_metrics(&request.metrics)?;
        let rules = if request.rules.is_empty() { Default::default() } else { request.rules.parse()? };
        let game = Arc::clone(&self.game);
        // Indices and shapes of large tables take a moment.
        let names = tokio::task::spawn_blocking(move || -> Result<_, ClusterError> {
            let asked = parse_tables(game.as_ref(), &request.tables)?;
            let tables = closure(game.as_ref(), &asked)?;
            Ok((asked, tables))
        });
        let (asked, tables) = names.await.map_err(|e| ClusterError::Panicked(e.to_string()))??;
        let commits = self.look(|conductor, _| conductor.commits());
        let present = present(self.bucket.store.as_ref(), rules, self.settings.index, &tables).await?;
        let game = Arc::clone(&self.game);
        let plan = tokio::task::spawn_blocking(move || Plan::new(game.as_ref(), asked, &metrics, rules, &present));
        let plan = plan.await.map_err(|e| ClusterError::Panicked(e.to_string()))??;
        Ok((plan, commits))
    }

    fn picture(self: &Arc<Self>, id: JobId) -> Result<wire::Job, ClusterError> {
        self.look(|conductor, now| conductor.job(now, id))
    }
}

/// True when nothing more happens to the job.
fn is_over(job: &wire::Job) -> bool {
    matches!(job.state(), wire::JobState::Done | wire::JobState::Failed | wire::JobState::Cancelled)
}

#[tonic::async_trait]
impl Jobs for Office {
    async fn submit(
        self: Arc<Self>,
        request: Request<wire::SubmitRequest>,
    ) -> Result<Response<wire::SubmitReply>, Status> {
        let (plan, commits) = self.plan(request.into_inner()).await?;
        let id = self.with(|conductor, now| conductor.submit(now, plan, commits));
        Ok(Response::new(wire::SubmitReply { job: Some(self.picture(id)?) }))
    }

    async fn list(self: Arc<Self>, _: Request<wire::ListRequest>) -> Result<Response<wire::ListReply>, Status> {
        let jobs = self.look(|conductor, now| conductor.jobs(now));
        Ok(Response::new(wire::ListReply { jobs }))
    }

    async fn status(self: Arc<Self>, _: Request<wire::StatusRequest>) -> Result<Response<wire::StatusReply>, Status> {
        Ok(Response::new(self.status_reply()))
    }

    type WatchStream = Answers<wire::Job>;

    async fn watch(
        self: Arc<Self>,
        request: Request<wire::WatchRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let id: JobId = request.into_inner().job.parse()?;
        self.picture(id)?;
        let (pictures, stream) = mpsc::channel(4);
        tokio::spawn(async move {
            let mut changes = self.changes.subscribe();
            loop {
                changes.mark_unchanged();
                let Ok(job) = self.picture(id) else { return };
                let over = is_over(&job);
                if pictures.send(Ok(job)).await.is_err() || over {
                    return;
                }
                tokio::time::sleep(PICTURES).await;
                tokio::select! {
                    changed = changes.changed() => if changed.is_err() { return },
                    () = pictures.closed() => return,
                }
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(stream))))
    }

    async fn cancel(self: Arc<Self>, request: Request<wire::CancelRequest>) -> Result<Response<wire::Job>, Status> {
        let id: JobId = request.into_inner().job.parse()?;
        self.with(|conductor, now| conductor.cancel(now, id))?;
        Ok(Response::new(self.picture(id)?))
    }
}
