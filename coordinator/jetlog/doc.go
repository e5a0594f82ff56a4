// Package jetlog stores a run's log in NATS JetStream, where several coordinators can share it:
// one leads, the others stand by.
package jetlog
