// Package jetstream tests the coordinator's log in JetStream against real brokers: a broker in this
// process, a broker in its own process, and a cluster of three brokers.
//
//	go test ./jetstream                           about a minute
//	go test ./jetstream -records 20000 -rounds 20 longer races, more leaders lost
package jetstream
