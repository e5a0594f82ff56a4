// Package zofl is the root of Zofl, zeroth-order federated learning: many
// devices train one model that they can only evaluate. A device supplies the
// loss at given parameters. Devices regenerate the directions to probe from
// shared seeds, so they send a few scalars a round, whatever the size of the
// model, except in methods that send vectors. The package itself has no code.
//
// # For an app on a device
//
//   - [github.com/zofl/zofl/client] runs the device: it probes the app's loss,
//     replies over a NATS connection that the app owns, and hands out the
//     current parameters.
//   - [github.com/zofl/zofl/client/mobile] is the client for gomobile: Java,
//     Kotlin, Swift and Objective-C.
//   - android is the library for Android apps, and examples/android an app with it;
//     examples/raspberrypi is a device in one file, examples/sensor an agent for sensors.
//
// # For operators of a run
//
//   - coordinator/zofl is the program: a coordinator with an embedded broker
//     and a command line. It is a module of its own, so that no app has a
//     server among its dependencies.
//   - [github.com/zofl/zofl/coordinator] is the round engine inside it, for
//     programs of your own.
//   - [github.com/zofl/zofl/wire] has the plan of a run; its package preset
//     makes one by the name of a paper's method, with the paper's constants,
//     planfile reads and writes its file, valid decides whether it can run,
//     plancheck explains why not, and cost says what it costs.
//
// # For who looks for a method
//
//   - [github.com/zofl/zofl/fleet] runs a plan on devices in memory: give it
//     their losses, and it returns the model and the history of the rounds.
//     Its package tune finds the settings that a plan leaves open.
//
// # For another implementation, or an audit
//
//   - [github.com/zofl/zofl/wire] defines the bytes that travel and the log.
//   - [github.com/zofl/zofl/prng] defines the directions.
//   - [github.com/zofl/zofl/mathx] defines the order of rounding; its package
//     surrogate has a device's own numerics, which no replica repeats.
//   - [github.com/zofl/zofl/client/replica] computes the model by replaying
//     the log.
//   - [github.com/zofl/zofl/bus] has the few operations of NATS that Zofl uses,
//     and a bus in memory for tests and simulation.
//   - testing is a module of its own: brokers, fleets, models and the papers'
//     experiments; examples/pid is another, a fleet that tunes its controllers.
//
// # Determinism
//
// A model is its initial parameters and a log of records. Every replica that
// applies the same records has the same bits, on every architecture that Go
// supports, with or without assembly, on any number of goroutines.
package zofl
