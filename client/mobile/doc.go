// Package mobile is package client for apps in Java, Kotlin, Swift and Objective-C: gobind turns
// its types into classes. Go programs use package client.
//
// A [Config] names the run, the server, a directory and the loss. A [Client] takes part while
// [Client.Run] blocks on a thread of the app, and returns the model at any time. In Kotlin:
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
// In Java the classes are in package zofl.mobile: Client, Config, and Mobile for functions
// and constants. In Objective-C they are ZoflMobileClient and so on. On a JVM other than
// Android's, java.library.path must contain the native library, and a program ends with
// System.exit.
//
// # Failure
//
// A panic, on the app's thread or on one of the library's, becomes an error with [CodePanic]. When
// a callback throws, returns NaN or hangs, only that round is lost, and [Listener].OnFault is
// called. For a throwable of Java it receives class, message and stack.
//
// Only a lack of memory outside Java's heap ends the app's process. Package client says what a
// model of d parameters needs, and MemoryLimit refuses plans that need more than the app allows.
// Java's heap may be small. No array of this library has more than [MaxBlock] parameters, 4 MiB,
// and one for which there is no room arrives as null. In simple mode that is the array of Loss. If
// it is null, Loss throws, and the round is lost.
//
// Errors begin with a code that never changes: see [ErrorCode].
//
// # Threads
//
// Any thread may call any method of a client; a Config belongs to one thread. The objective
// and the evaluator are called one at a time on one thread, the listener on another.
// Neither is the app's main thread, and neither is always the same thread.
//
// # Memory across the border
//
// In Java, an array that a callback gets is the app's own copy. In Objective-C and Swift it
// is the library's memory: read it during the call only. An array that the app passes
// (ReadParams, Params, Digest) is written in place and never kept, so block mode needs the
// least memory for a large model. Swift's Data cannot be written in place; there Block and
// Model return copies.
//
// The client, the objective and the listener keep each other alive across the two languages. So
// call [Client.Stop] when you no longer need a client, also after RunFor: nothing else releases
// them.
package mobile
