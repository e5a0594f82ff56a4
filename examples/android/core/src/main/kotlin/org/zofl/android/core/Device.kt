package org.zofl.android.core

/**
 * One phone's part in a run, as the native library offers it. The app talks to
 * this interface only, so that everything above it is tested without native code.
 *
 * The binding's own classes are wrapped by `org.zofl.android.bridge.GoDevice`. Every
 * function may be called from any thread. What fails throws an exception whose
 * message begins with a code: see [ZoflException.of].
 */
interface Device {
    /** Parameters of the model. */
    val dim: Int
    val state: DeviceState

    /** Whether the coordinator has ended the run: there is nothing left to do. */
    val ended: Boolean
    val traffic: Traffic

    /** Blocks until the run ends, [stop], or an error that no waiting cures. */
    fun run()

    /** The same, and returns after [milliseconds] with its state on disk. */
    fun runFor(milliseconds: Long)

    /** Reads the state that is kept on disk, so that [params] has it before [run]. */
    fun load()

    /** Ends it for good. Returns at once; [run] returns soon after. */
    fun stop()

    /** Gives up the connection and makes a new one: after Doze, or on a new network. */
    fun reconnect()

    fun setNetwork(connected: Boolean, metered: Boolean)

    /** [percent] of the battery, 0 to 100. */
    fun setPower(charging: Boolean, percent: Int)

    /** Writes the model, little-endian float32, `4 * dim` bytes; returns its record, 0 for none yet. */
    fun params(into: ByteArray): Long

    /** Writes the 32 bytes of the model's digest; returns its record, 0 for none yet. */
    fun digest(into: ByteArray): Long
}

/** Bytes at the socket since the device was opened, TLS included. */
data class Traffic(val sent: Long = 0, val received: Long = 0)

/** Parameters that a callback may read, until it returns. */
interface ParameterView {
    val dim: Int

    /** Whether the answer is no longer wanted: return anything, soon. */
    val cancelled: Boolean

    /** Writes parameters from [offset] into [into], little-endian float32; returns how many. */
    fun read(offset: Int, into: ByteArray): Int
}

/** One question to the loss: valid until the answer is given. */
interface RoundView : ParameterView {
    /** The record that the round will become. */
    val record: Long
    val step: Int

    /** Samples of the minibatch; 0 for all that the device has. */
    val batchSize: Int

    /** Names the minibatch: the same for every question that will be compared. */
    val batchSeed: Long
}

/**
 * What an app implements: the loss at the parameters that [RoundView.read] gives.
 * It is called from native threads, and possibly again before a call that takes too
 * long has returned. An exception or NaN costs this round's contribution, nothing more.
 */
fun interface Loss {
    fun loss(round: RoundView): Double
}

/** One measurement of the model: valid until [Evaluator.evaluate] returns. */
interface EvaluationView : ParameterView {
    /** Adds the value of the plan's next metric, finite, a mean over [samples]' samples. */
    fun metric(value: Double)

    /** Says over how many samples the metrics are means, 1 at least. */
    fun samples(n: Int)
}

/**
 * What an app implements if its plan has metrics: measures the model on data that
 * nobody trained on, for the coordinator's record. It is called from native threads,
 * seldom, and not on every device. An exception reports nothing.
 */
fun interface Evaluator {
    /** Gives each of the plan's metrics, in the plan's order, and their samples once. */
    fun evaluate(evaluation: EvaluationView)
}

/** What the native library tells, from one thread; the latest news may replace earlier ones. */
interface DeviceListener {
    fun onState(state: DeviceState, reason: String)

    /** [loss] is this device's last, NaN before the first. */
    fun onProgress(record: Long, last: Long, round: Long, contributions: Long, loss: Double)
    fun onFault(code: String, message: String)
}

/** Makes devices: from the native library in the app, from memory in tests. */
fun interface DeviceOpener {
    /** [credentials]: the text of a creds file or an nkey seed; null for none. [evaluator]: null for none. */
    fun open(
        config: DeviceConfig, credentials: String?, loss: Loss, evaluator: Evaluator?, listener: DeviceListener,
    ): Device
}
