// Package day simulates a day of flaky phones, in virtual time: the production coordinator and
// production clients learn to classify digits, while phones come and go by the hour of the day,
// lose their radio, decline because of their battery, and are slow or fast. A day of 500 phones
// takes under a minute. Every event depends on [Config] alone.
//
//	h := day.Run(t, day.Config{Seed: 1})
//
// To compare plans, change a plan that [NewPlan] returns, and simulate both plans with the same
// seed: the phones then come, go and lose their radio at the same moments. Command testing/cmd/day
// prints a day.
//
// # What is simulated
//
// The clock is the virtual clock of testing/synctest. One goroutine owns the network. That
// goroutine delivers one message, or makes one phone come, go or lose its radio. Then the goroutine
// waits until all processes have reacted, and continues. A message takes the latency of the
// sender's end plus the latency of the receiver's end. Messages between two ends keep their order,
// as on a NATS connection. The simulation waits the phone's time for a loss evaluation, and
// computes the loss in full.
//
// If a phone's app is stopped, its client's Run ends. A killed phone stops at once, and does not
// even save a checkpoint. Both kinds of phone return with the content of their store. While a phone
// has no radio, either all its calls fail, or the network drops all its messages silently.
package day
