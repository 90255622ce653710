//! The way to the state's one owner: work for it, done in the order in which it was sent.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use tokio::sync::{mpsc, oneshot};

type Work<S> = Box<dyn FnOnce(&mut S) + Send>;

/// Box for work of the state's owner; clones are the same box.
pub(crate) struct Mailbox<S>(mpsc::UnboundedSender<Work<S>>);

impl<S> Clone for Mailbox<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// A mailbox that does not keep its owner alive.
pub(crate) struct WeakMailbox<S>(mpsc::WeakUnboundedSender<Work<S>>);

impl<S> Clone for WeakMailbox<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S: 'static> Mailbox<S> {
    /// Starts the owner. It ends, and drops the state, when no sender is left.
    pub(crate) fn new(state: impl FnOnce(WeakMailbox<S>) -> S + Send + 'static) -> Self {
        let (sender, mut work) = mpsc::unbounded_channel::<Work<S>>();
        let weak = WeakMailbox(sender.downgrade());
        let own = move || {
            let mut state = state(weak);
            while let Some(work) = work.blocking_recv() {
                // A defect in one piece of work must not end the conversation.
                if catch_unwind(AssertUnwindSafe(|| work(&mut state))).is_err() {
                    tracing::error!("a request could not be served: this is a defect of interleaver");
                }
            }
        };
        // Reading files blocks, which is why the owner is a thread.
        drop(thread::spawn(own));
        Self(sender)
    }

    /// A handle that does not keep the owner alive.
    pub(crate) fn downgrade(&self) -> WeakMailbox<S> {
        WeakMailbox(self.0.downgrade())
    }

    /// Sends work, and does not wait for it.
    pub(crate) fn send(&self, work: impl FnOnce(&mut S) + Send + 'static) {
        // The owner is gone only when the server ends.
        let _ = self.0.send(Box::new(work));
    }

    /// Sends work at once, and gives its result later; `None` if the server ends before.
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut S) -> T + Send + 'static,
    ) -> impl Future<Output = Option<T>> {
        self.ask_later(move |state, reply: oneshot::Sender<T>| {
            // The request may have been given up.
            let _ = reply.send(work(state));
        })
    }

    /// The same for work that answers when it can.
    pub(crate) fn ask_later<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut S, oneshot::Sender<T>) + Send + 'static,
    ) -> impl Future<Output = Option<T>> {
        let (reply, answer) = oneshot::channel();
        self.send(move |state| work(state, reply));
        async { answer.await.ok() }
    }
}

impl<S: 'static> WeakMailbox<S> {
    /// Like [`Mailbox::send`], for what the state itself has started. Says whether the owner is still there.
    pub(crate) fn send(&self, work: impl FnOnce(&mut S) + Send + 'static) -> bool {
        self.0.upgrade().is_some_and(|sender| sender.send(Box::new(work)).is_ok())
    }
}
