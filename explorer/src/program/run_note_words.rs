//! Peculiarities of programs and restrictions of machines, in words.

use checker::peculiarity::Peculiarity;
use ptrace_backend::Restriction;

/// A peculiarity of a program, as a sentence.
pub(crate) fn of_program(peculiarity: Peculiarity) -> String {
    let words = match peculiarity {
        Peculiarity::StartsEarly(early) => {
            return format!(
                "the program {early} before main (in a constructor): each execution starts it anew, which is slower"
            );
        }
        Peculiarity::BeginsBehindLoading => {
            "executions begin where `main` has loaded its last library (dlopen): what it does alone before that is done once"
        }
        Peculiarity::StartsProcesses => {
            "the program starts other processes: they ran unscheduled, and waiting for them is not explored"
        }
        Peculiarity::ForksBesideThreads => {
            "the program forks while it has several threads: the child has the memory of that moment, whose place among what \
             other threads do between their key points is not explored, so that the bound is not covered"
        }
        Peculiarity::ReplacesItself => {
            "the program replaces itself by another one (exec), which ran unscheduled: explore that one itself"
        }
        Peculiarity::OneThread => "the program never created a second thread: there is one schedule only",
        Peculiarity::FloodsOutput => {
            "the program floods its output: what came after the first 16 MiB of a stream was thrown away"
        }
        Peculiarity::SignalsThreads => {
            "the program sends signals between its threads: a handler runs when its thread goes on, and that it could run \
             elsewhere is not explored, so that the bound is not covered"
        }
        Peculiarity::TimerSignals => {
            "a timer of the program sends it signals: a handler runs when its thread goes on, and that it could run elsewhere is \
             not explored, so that the bound is not covered"
        }
        Peculiarity::CancelsThreadsAtKeyPoints => {
            "the program cancels threads: a thread is cancelled at its cancellation points; one that allows asynchronous \
             cancellation, at its key points only"
        }
        Peculiarity::CancelsThreads => {
            "the program cancels threads: a thread is cancelled where it comes to a cancellation point, and that this may be \
             between two of its key points is not explored"
        }
        Peculiarity::RunsLongInLoop => {
            "a thread ran for longer than --run-timeout in a loop: what it looks at there is watched from now on, in case that \
             it waits for another thread; if it does not, give it more time"
        }
        Peculiarity::LooksForLong => {
            "a thread looks at the same for hundreds of times in a loop, while others could go: it gives way to them then, and \
             what comes of its going on alone may be left out, so that the bound is not covered"
        }
        Peculiarity::TimedWaitForWriterPreferringLock => {
            "the program waits with a time limit for a read-write lock that prefers writers: dpor may leave out orders in \
             which that time runs out"
        }
        Peculiarity::FreesMuch => {
            "the program frees more than is kept from being allocated again: where it uses what it has freed long ago, that is \
             not seen"
        }
        Peculiarity::ClientNeverBegan => {
            "the client never began: the program ended, or stood still, before it was ready for one (--ready)"
        }
        Peculiarity::HandlesSigterm => {
            "the program handles SIGTERM, which it gets when the client has ended: the handler runs when its thread goes on, \
             and that it could run elsewhere is not explored, so that the bound is not covered"
        }
        Peculiarity::SharesNetwork => {
            "executions have no network of their own here (that takes the right to make namespaces): they run one at a time, \
             and meet what else is at their ports"
        }
        Peculiarity::AllocatesOften => {
            "the program calls the allocator more than 5,000 times in an execution: what it frees after that, and uses, is not \
             seen"
        }
        Peculiarity::AsksForUring => {
            "the program asks the kernel for io_uring, and is told that there is none (ENOSYS): a failure may come of that alone"
        }
        Peculiarity::TracesProcesses => {
            "the program traces processes (ptrace), and is told that this is not permitted (EPERM): a failure may come of that \
             alone"
        }
    };
    words.to_owned()
}

/// A restriction of the machine, as a sentence.
pub(crate) fn of_machine(restriction: Restriction) -> String {
    let words = match restriction {
        Restriction::AddressesVary => {
            "address randomisation cannot be switched off here: all executions of this search have the same addresses, but a \
             later replay has others (`interleaver doctor` says what to do)"
        }
        Restriction::NotBound => {
            "the tool may not bind itself to one CPU here, which takes up to three times as long (`interleaver doctor` says \
             what to do)"
        }
    };
    words.to_owned()
}
