// Package broker runs a NATS server inside the program, for tests and for a
// run on one laptop, and counts the bytes that connections cost.
//
// For most uses:
//
//	b, err := broker.Run(broker.Config{})
//	defer b.Shutdown()
//	nc, traffic, err := b.Connect("device 7")
//	defer nc.Close()
//	... traffic.Up(), traffic.Down()
//
// The server is the one that nats-io ships; it listens on the loopback
// interface only, unless told otherwise, and asks for no credentials unless it
// is given [Config.Nkeys]: whoever reaches the address takes part. With
// [Config.TLS] it is reached under TLS only. With [Config.JetStream] it can hold
// the log of a run. Package servers, below this one, runs servers as processes.
package broker
