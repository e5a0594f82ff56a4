package org.zofl.android

import java.nio.ByteBuffer
import java.nio.ByteOrder
import kotlin.time.Duration
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.withContext

/** The trained model at a record. The caller owns `values`. */
class Model(val record: Long, val values: FloatArray)

/**
 * A device with suspending functions. [open] makes it, for one session: it is finished
 * once [run] or [runFor] is canceled, or [close] is called.
 *
 * Cancellation stops the native library and waits for it. So once the canceled coroutine
 * has been joined, the next client can use the state on disk.
 */
class ZoflClient private constructor(private val news: News, private val device: Device) : AutoCloseable {
    /** The latest state, round, loss and fault. Like every StateFlow it skips what nobody collected in time. */
    val progress: StateFlow<Progress> = news.progress

    /** Whether the coordinator has ended the run. */
    val ended: Boolean get() = device.ended

    /** Number of parameters. */
    val dim: Int get() = device.dim

    /** The plan's segments; empty before the run has asked this device to take part. See [named]. */
    val segments: List<Segment> get() = device.segments

    /** The scale of all devices' columns; null before they have found it, and in a run without columns. */
    val scaler: Scaler? get() = device.scaler

    /** The current state; [progress] may have it a moment later. */
    val state: DeviceState get() = device.state

    /** Trains until the run ends. Throws [ZoflException] for errors that waiting cannot cure. */
    suspend fun run() = blocking { device.run() }

    /** Trains for at most [budget] and returns with its state on disk. */
    suspend fun runFor(budget: Duration) = blocking { device.runFor(budget.inWholeMilliseconds) }

    /** Reads the state on disk, so that [params] works without a connection. */
    suspend fun load() = blocking { device.load() }

    private suspend fun blocking(call: () -> Unit) =
        try {
            onOwnThread("zofl", interrupt = device::stop) { translate(call) }
        } finally {
            news.traffic(device.traffic)
        }

    /** The current model, or null before the first record was applied. */
    fun params(): Model? = translate {
        val bytes = ByteArray(4 * device.dim)
        val record = device.params(bytes)
        if (record == 0L) return@translate null
        val values = FloatArray(device.dim)
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(values)
        Model(record, values)
    }

    /** The state's digest in hexadecimal, the same on all devices at the same record; null before the first. */
    fun digest(): String? = translate {
        val bytes = ByteArray(32)
        if (device.digest(bytes) == 0L) null else bytes.joinToString("") { "%02x".format(it) }
    }

    /** Reports the network: native code cannot ask Android. See [feed]. */
    fun setNetwork(connected: Boolean, metered: Boolean) = device.setNetwork(connected, metered)

    /** Reports the battery. [percent]: its charge, 0 to 100. */
    fun setPower(charging: Boolean, percent: Int) = device.setPower(charging, percent)

    /** Replaces the connection: one from before Doze looks alive for minutes. */
    fun reconnect() = device.reconnect()

    /** Finishes the client without waiting; a current [run] returns soon. */
    override fun close() = device.stop()

    companion object {
        /** Like the other [open], for a device that has [credentials] only, or none. */
        suspend fun open(
            opener: DeviceOpener, config: DeviceConfig, credentials: String?, objective: Objective,
            evaluator: Evaluator? = null,
        ): ZoflClient = open(opener, config, Secrets(credentials), objective, evaluator)

        /**
         * Makes a client, on its own thread because that may read the disk. Without [consent]
         * it takes part in every plan that fits its memory. Throws [ZoflException].
         */
        suspend fun open(
            opener: DeviceOpener, config: DeviceConfig, secrets: Secrets, objective: Objective,
            evaluator: Evaluator? = null, consent: Consent? = null,
        ): ZoflClient {
            val witness = Witness()
            val news = News(witness)
            val callbacks = Callbacks(witness.watch(objective), evaluator?.let(witness::watch), news, consent)
            val device = withContext(NonCancellable) {
                onOwnThread("zofl-open", interrupt = {}) {
                    translate { opener.open(config, secrets, callbacks) }
                }
            }
            news.source = device
            return ZoflClient(news, device).also {
                try {
                    currentCoroutineContext().ensureActive()
                } catch (e: Throwable) {
                    it.close() // nobody will get it
                    throw e
                }
            }
        }
    }
}

/** Turns every error of the native library into a [ZoflException]. */
private inline fun <T> translate(call: () -> T): T =
    try {
        call()
    } catch (e: Exception) {
        throw ZoflException.of(e)
    }
