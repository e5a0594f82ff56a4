// Package jetlog stores a run's log in NATS JetStream. Several coordinators can share the log: one
// coordinator leads, and the others stand by.
package jetlog
