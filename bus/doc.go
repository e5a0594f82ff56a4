// Package bus holds the few calls that client and coordinator make of NATS
// core: publish, subscribe, request. NATS puts them over a connection that the
// app owns; Memory carries them inside one process, for tests, simulation and
// examples.
//
// Delivery is that of NATS core: at most once, in the order of publication per
// publisher and subject, to whoever listens at that time. A publisher learns
// nothing of who received; the protocol above confirms by its next message.
//
// # Permissions
//
// A NATS server denies a publish or a subscription after the call has
// returned, by an error that only the connection's error handler sees. That
// handler is the app's, and this package leaves it alone; Check asks instead.
package bus
