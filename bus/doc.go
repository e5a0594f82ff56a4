// Package bus defines the few operations of NATS core that client and coordinator use: publish,
// subscribe, request. NATS makes them on a connection that the app owns; Memory makes them inside
// one process, for tests, simulation and examples.
//
// Messages are delivered as in NATS core: at most once, to the subscribers at that time, and for
// each publisher and subject in the order of publication. A publisher does not learn who received a
// message; the next message of Zofl's protocol confirms it.
//
// # Permissions
//
// If a NATS server denies a publish or a subscription, the call has already returned: only the
// connection's error handler receives the error. That handler belongs to the app, and this package
// does not replace it. Use Check.
package bus
