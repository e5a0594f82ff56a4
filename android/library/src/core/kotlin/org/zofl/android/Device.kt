package org.zofl.android

/**
 * One phone's part in a run, as the native library offers it. The app uses only this
 * interface, so that everything above it can be tested without native code.
 *
 * `org.zofl.android.GoDevice` wraps the binding's classes. Every function may be
 * called from any thread. A function that fails throws an exception whose message begins
 * with a code: see [ZoflException.of].
 */
interface Device {
    /** Number of parameters. */
    val dim: Int
    val state: DeviceState

    /** Whether the coordinator has ended the run. */
    val ended: Boolean
    val traffic: Traffic

    /** Blocks until the run ends, [stop] is called, or an error occurs that waiting cannot cure. */
    fun run()

    /** Like [run], but returns after [milliseconds] with its state on disk. */
    fun runFor(milliseconds: Long)

    /** Reads the state on disk, so that [params] has the model before [run]. */
    fun load()

    /** Ends the device for good. Returns at once; [run] returns soon after. */
    fun stop()

    /** Drops the connection and opens a new one: after Doze, or on a new network. */
    fun reconnect()

    fun setNetwork(connected: Boolean, metered: Boolean)

    /** [percent]: charge of the battery, 0 to 100. */
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

    /** Whether the result is no longer needed: return anything, soon. */
    val cancelled: Boolean

    /** Writes parameters from [offset] into [into], little-endian float32; returns how many. */
    fun read(offset: Int, into: ByteArray): Int
}

/** One call of the loss: valid until it returns. */
interface RoundView : ParameterView {
    /** The record that this round will make. */
    val record: Long
    val step: Int

    /** Number of samples in the minibatch; 0 for all of the device's samples. */
    val batchSize: Int

    /** Seed of the minibatch: the same for all losses that are compared with each other. */
    val batchSeed: Long
}

/**
 * What an app implements: the loss at the parameters that [RoundView.read] gives. Native
 * threads call it, possibly again before a slow call has returned. An exception or NaN
 * costs only this round's contribution.
 */
fun interface Loss {
    fun loss(round: RoundView): Double
}

/** One measurement of the model: valid until [Evaluator.evaluate] returns. */
interface EvaluationView : ParameterView {
    /** Adds the value of the plan's next metric: finite, the mean over the samples that [samples] counts. */
    fun metric(value: Double)

    /** Sets how many samples the metrics are means over, at least 1. */
    fun samples(n: Int)
}

/**
 * What an app implements if its plan has metrics: it measures the model on data that
 * nobody trains on, for the coordinator. Native threads call it rarely, and not on every
 * device. After an exception nothing is reported.
 */
fun interface Evaluator {
    /** Calls metric for each of the plan's metrics, in the plan's order, and samples once. */
    fun evaluate(evaluation: EvaluationView)
}

/** Gets the native library's news, from one thread; later news may replace earlier ones. */
interface DeviceListener {
    fun onState(state: DeviceState, reason: String)

    /** [loss] is this device's last loss, NaN before the first. */
    fun onProgress(record: Long, last: Long, round: Long, contributions: Long, loss: Double)
    fun onFault(code: String, message: String)
}

/** Opens devices: of the native library in the app, fakes in tests. */
fun interface DeviceOpener {
    /** [credentials]: the text of a creds file or an nkey seed; null for none. [evaluator]: null for none. */
    fun open(
        config: DeviceConfig, credentials: String?, loss: Loss, evaluator: Evaluator?, listener: DeviceListener,
    ): Device
}
