// Package bus has the few operations of NATS core that client and coordinator
// use: publish, subscribe, request. NATS makes them on a connection that the
// app owns; Memory makes them inside one process, for tests, simulation and
// examples.
//
// Delivery is that of NATS core: at most once, to those who subscribe at that
// time, and for each publisher and subject in the order of publication. A
// publisher does not learn who received a message; the protocol above confirms
// by its next message.
//
// # Permissions
//
// A NATS server denies a publish or a subscription after the call has
// returned, by an error that only the connection's error handler receives. That
// handler belongs to the app, and this package does not replace it; use Check.
package bus
