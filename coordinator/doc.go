// Package coordinator runs the rounds of a Zofl run: it announces them, checks
// and averages what devices reply, commits one record a round to a log, and
// serves the log to devices that missed some of it. It never holds the model.
//
// For most uses, give [New] a connection, a plan and a log ([OpenFileLog]),
// and call [Coordinator.Run], which blocks until the run ended. The other
// methods may be called from any goroutine meanwhile.
//
// # Commit
//
// A round is announced only after the record before it is stored, and a
// record is stored before anybody is told of it. A coordinator that stopped at
// any point therefore continues from its log: it asks for the same work again,
// and replies that devices have computed already still count.
//
// What is not in the log does not survive: a pause, a request whose event was
// not told yet, the number of the open attempt, evaluations and digests that
// were being collected, and how the loss went.
//
// # Failing and shared logs
//
// Nothing but the log decides. If it is unknown whether a record was stored, the
// run pauses, hands the log the same bytes again and again, and goes on by itself
// once it is known. Where coordinators share a log, the record that is stored
// first counts, whoever wrote it. A coordinator that learns of one that began
// after it says nothing more: Run returns [ErrDeposed], and New with the same log
// stands by.
//
// # Digests
//
// The coordinator holds no state to compare devices with. What a witness reports
// ([Config].Witnesses) or three devices agree on is the reference, which
// announcements bring, and by which devices find that they have to rebuild.
//
// # Catching up
//
// Devices that missed records get them in segments with fixed borders, each
// packed into one reply. However many ask at once, an announcement waits behind
// a MiB of replies at most.
//
// # Determinism
//
// The rounds are made by a core without goroutine, clock or randomness: the
// same inputs at the same times give the same frames and records, byte for
// byte. A record does not depend on the order in which replies arrived.
package coordinator
