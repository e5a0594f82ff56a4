package org.zofl.android

/**
 * One phone's part in a run, as the native library offers it. [ZoflClient] needs no more
 * than this interface, so that all above it can be tested without native code.
 *
 * Every function may be called from any thread. One that fails throws an exception whose
 * message begins with a code: see [ZoflException.of].
 */
interface Device {
    /** Number of parameters. */
    val dim: Int
    val state: DeviceState

    /** Whether the coordinator has ended the run. */
    val ended: Boolean
    val traffic: Traffic

    /** The plan's segments; empty before the run has asked this device to take part. */
    val segments: List<Segment>

    /** The scale of all devices' columns; null before they have found it, and in a run without columns. */
    val scaler: Scaler? get() = null

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

/** Gets the native library's news, from one thread; later news may replace earlier ones. */
interface DeviceListener {
    fun onState(state: DeviceState, reason: String)

    /** [loss] is this device's last loss, NaN before the first. */
    fun onProgress(record: Long, last: Long, round: Long, contributions: Long, loss: Double)
    fun onFault(code: String, message: String)
}

/** What a device calls back. */
class Callbacks(
    val objective: Objective, val evaluator: Evaluator?, val listener: DeviceListener,
    val consent: Consent? = null,
)

/** Opens devices: of the native library in an app, fakes in tests. */
fun interface DeviceOpener {
    fun open(config: DeviceConfig, secrets: Secrets, callbacks: Callbacks): Device
}
