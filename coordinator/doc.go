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
// # Determinism
//
// The rounds are made by a core without goroutine, clock or randomness: the
// same inputs at the same times give the same frames and records, byte for
// byte. A record does not depend on the order in which replies arrived.
package coordinator
