// Package day simulates a day of flaky phones, in virtual time: the production coordinator and
// production clients learn to classify digits, while phones come and go by the hour of the day,
// lose their radio, decline because of their battery, and are slow or fast. A day of 500 phones
// takes under a minute. Every event depends on [Config] alone.
//
//	h := day.Run(t, day.Config{Seed: 1})
//
// To compare plans, change one that [NewPlan] returns, and simulate both with the same seed: the
// phones then come, go and lose their radio at the same moments. Command testing/cmd/day prints
// a day.
//
// # What is simulated
//
// The clock is that of testing/synctest. One goroutine owns the network: it delivers one message
// or makes one phone come, go or lose its radio, waits until everybody has reacted, and goes on.
// A message takes the latencies of both ends; messages between two ends keep their order, as on
// a NATS connection. A loss evaluation takes the phone's time, and is then computed in full.
//
// A phone whose app is stopped ends its client's Run. A killed phone does nothing more: it does not
// even save a checkpoint. Either comes back with the content of its store. A radio that is lost
// either fails all calls, or drops all messages in silence.
package day
