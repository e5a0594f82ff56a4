// Package mobile is the face of package client for apps in Java, Kotlin, Swift and
// Objective-C: gobind makes classes of it, with nothing left out. Go programs use
// package client.
//
// A [Config] says what there is: the run, the server, a directory, the loss. A
// [Client] takes part while [Client.Run] blocks, on a thread of the app's, and gives
// the model at any time. In Kotlin:
//
//	val config = Mobile.newConfig().apply {
//		run = "digits"; device = "phone-7"; dim = model.size.toLong(); stateDir = dir.path
//		addServer("tls://zofl.example.org:4222"); setCredentials(text)
//		setBlockObjective { round ->
//			round.readParams(0, weights)                  // into the app's own array
//			model.loss(weights, samples.draw(round.batchSize(), round.batchSeed()))
//		}
//	}
//	val client = Mobile.newClient(config)
//	thread {                                              // until the run ends, or client.stop()
//		try { client.run() } catch (e: Exception) { log(Mobile.errorCode(e.message), e) }
//	}
//	client.params(weights)                                // the model, at any time
//
// In Java these are classes of zofl.mobile: Client, Config, and Mobile for functions and
// constants; in Objective-C ZoflMobileClient, and so on. On a JVM that is not Android's,
// java.library.path has the native library, and a program ends with System.exit.
//
// # Failure
//
// No call of this package ends the app's process: a panic becomes an error with
// [CodePanic], whether on the app's thread or on one of the runtime's. What a callback
// does wrong (an exception, NaN, a hang) costs the round that it was asked for, and
// [Listener].OnFault is told. What remains are faults that Go cannot recover from, of
// memory above all: see package client for what a model of d parameters takes, and
// add d*4 bytes for the array that simple mode hands out.
//
// Errors begin with a code that never changes: see [ErrorCode].
//
// # Threads
//
// Any thread may call anything of a client; a Config is for one thread. The objective
// and the evaluator are called one at a time by one thread, the listener by another;
// neither is the app's main thread, nor always the same.
//
// # Memory across the border
//
// In Java an array that a callback gets is the app's own copy; in Objective-C and
// Swift it is the runtime's memory, to be read during the call only. An array that the
// app hands in (ReadParams, Params, Digest) is written in place and never kept. So a
// large model costs least in block mode. Swift's Data cannot be written in place: there
// Block and Model return copies.
//
// Whatever holds the client, the objective or the listener in the other language keeps
// them alive in this one and the other way round, so call [Client.Stop] when a client
// is done with, also after RunFor: nothing else releases them.
package mobile
