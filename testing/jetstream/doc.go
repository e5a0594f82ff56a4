// Package jetstream tests the coordinator's log in a JetStream against real brokers: one in
// this process, one in its own process, and a cluster of three.
//
//	go test ./jetstream                           about a minute
//	go test ./jetstream -records 20000 -rounds 20 longer races, more leaders lost
package jetstream
