//! What an active coordinator answers: to workers that join, and to clients.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use crate::callback::call_back;
use crate::entry::{MEMBERS, check_hello};
use crate::office::{Office, goodbye};
use crate::record::JobRecord;
use crate::wire::{command::Kind as Tell, report::Kind as Said};
use crate::{ClusterError, JobId, MemberId, wire};

/// Commands that may wait for a worker's connection.
const LINE: usize = 1024;
/// How long a worker may take to say who it is.
const HELLO: Duration = Duration::from_secs(10);
/// The shortest time between two pictures of a job that is watched.
const PICTURES: Duration = Duration::from_millis(50);

/// There is no place for one more worker.
fn full() -> Status {
    Status::resource_exhausted(format!("there are {MEMBERS} workers already: stop some"))
}

impl Office {
    /// Takes a worker in, or turns it away.
    pub(crate) async fn attend(
        self: Arc<Self>,
        mut reports: Streaming<wire::Report>,
    ) -> Result<ReceiverStream<Result<wire::Command, Status>>, Status> {
        let first = tokio::time::timeout(HELLO, reports.message()).await;
        let first = first.map_err(|_| Status::deadline_exceeded("a worker says Hello at once"))??;
        let Some(wire::Report { kind: Some(Said::Hello(hello)), .. }) = first else {
            return Err(Status::failed_precondition("a worker's first word is Hello"));
        };
        if self.look(|conductor, _| conductor.members.len()) >= MEMBERS {
            return Err(full());
        }
        let (line, commands) = mpsc::channel(LINE);
        let say = |kind| {
            let _ = line.try_send(Ok(wire::Command { kind: Some(kind) }));
        };
        if let Err(error) = check_hello(&hello) {
            say(Tell::Goodbye(wire::Goodbye { rejoin: false, ..goodbye(error.line()) }));
            return Ok(ReceiverStream::new(commands));
        }
        if hello.reign > self.reign {
            let reason = format!(
                "it has attended reign {}, this is {}: if the lease was deleted, start the worker again",
                hello.reign, self.reign
            );
            say(Tell::Goodbye(goodbye(reason)));
            return Ok(ReceiverStream::new(commands));
        }
        let fault = {
            let _call = self.calls.acquire().await;
            call_back(&self.settings.network, &hello).await.err()
        };
        if let Some(fault) = fault.as_ref().filter(|fault| fault.certain) {
            let trouble = self.with(|conductor, now| conductor.turn_away(now, &hello, &fault.cause));
            return Err(Status::failed_precondition(trouble));
        }
        if self.is_over() {
            return Err(Status::unavailable("its reign is over"));
        }
        let member = self.with(|conductor, now| {
            // Others may have joined meanwhile.
            if conductor.members.len() >= MEMBERS {
                return None;
            }
            let (member, epoch) = conductor.join(now, &hello);
            if let Some(fault) = &fault {
                conductor.doubt(member, &fault.cause);
            }
            let welcome = wire::Welcome {
                worker: member.0,
                epoch,
                store: self.settings.store.clone(),
                store_id: self.identity.clone(),
                heartbeat_millis: self.settings.heartbeat.as_millis() as u64,
                reign: self.reign,
                checkpoint_millis: self.settings.checkpoint.as_millis() as u64,
            };
            say(Tell::Welcome(welcome));
            self.pick_up(member, line.clone());
            Some(member)
        });
        let Some(member) = member else { return Err(full()) };
        tokio::spawn(Arc::clone(&self).listen_to(member, reports));
        Ok(ReceiverStream::new(commands))
    }

    /// Takes a worker's reports until its stream ends.
    async fn listen_to(self: Arc<Self>, member: MemberId, mut reports: Streaming<wire::Report>) {
        let reason = loop {
            match reports.message().await {
                _ if self.is_over() => return,
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
        self.hang_up(member, goodbye(reason));
    }

    fn picture(&self, id: JobId) -> Result<wire::Job, ClusterError> {
        self.look(|conductor, now| conductor.job(now, id))
    }

    /// Takes a job: when this returns, it survives the coordinator.
    pub(crate) async fn submit(self: Arc<Self>, request: wire::SubmitRequest) -> Result<wire::Job, ClusterError> {
        let (plan, commits) = self.plan(request).await?;
        self.look(|conductor, _| conductor.check_fit(&plan))?;
        let id = self.with(|conductor, _| conductor.new_job());
        let tables = plan.asked.iter().map(ToString::to_string).collect();
        let metrics = plan.metrics.iter().map(ToString::to_string).collect();
        let record = JobRecord::asked(id, tables, metrics, plan.rules);
        // On a task of its own: who has asked may go away, and a job that is written must be at work as well.
        let taken = tokio::spawn(async move {
            self.write_record(&record).await?;
            // One that was deposed without knowing it can still write what nobody else has written.
            self.confirm().await?;
            self.with(|conductor, now| conductor.submit(now, id, plan, commits));
            self.picture(id)
        });
        taken.await.unwrap_or_else(|e| Err(ClusterError::Panicked(e.to_string())))
    }

    /// Pictures of a job at its changes, until it is over or nobody looks.
    pub(crate) fn watch(self: Arc<Self>, id: JobId) -> Result<ReceiverStream<Result<wire::Job, Status>>, ClusterError> {
        self.picture(id)?;
        let (pictures, stream) = mpsc::channel(4);
        tokio::spawn(async move {
            let mut changes = self.changes.subscribe();
            loop {
                changes.mark_unchanged();
                let Ok(job) = self.picture(id) else { return };
                let over = is_over(&job);
                // Who watches a reign that is over must ask the next one.
                if self.is_over() || pictures.send(Ok(job)).await.is_err() || over {
                    return;
                }
                tokio::time::sleep(PICTURES).await;
                tokio::select! {
                    biased;
                    () = pictures.closed() => return,
                    changed = changes.changed() => if changed.is_err() { return },
                }
            }
        });
        Ok(ReceiverStream::new(stream))
    }

    /// Ends a job: when this returns, no later coordinator goes on with it.
    pub(crate) async fn cancel(self: Arc<Self>, id: JobId) -> Result<wire::Job, ClusterError> {
        self.with(|conductor, now| conductor.cancel(now, id))?;
        self.settle_record(id).await?;
        self.confirm().await?;
        self.picture(id)
    }
}

/// True when nothing more happens to the job.
fn is_over(job: &wire::Job) -> bool {
    matches!(job.state(), wire::JobState::Done | wire::JobState::Failed | wire::JobState::Cancelled)
}
