// Package bus defines the few operations of NATS core that client and coordinator use: publish,
// subscribe, request. The function NATS returns a Bus on a connection that the app owns. A Memory
// is a Bus inside one process, for tests, simulation and examples.
//
// A Bus delivers messages as NATS core does: at most once, to the subscribers at that time, and for
// each publisher and subject in the order of publication. A publisher does not learn who received a
// message; the next message of Zofl's protocol confirms that.
//
// # Permissions
//
// If a NATS server denies a publish or a subscription, Publish or Subscribe has already returned
// nil. Only the connection's error handler receives the error. The error handler belongs to the
// app, and package bus does not replace it. To learn of a denial, call Check.
package bus
