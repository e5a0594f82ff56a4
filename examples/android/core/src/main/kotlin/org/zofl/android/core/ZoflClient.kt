package org.zofl.android.core

import java.nio.ByteBuffer
import java.nio.ByteOrder
import kotlin.time.Duration
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asStateFlow
import kotlinx.coroutines.flow.update
import kotlinx.coroutines.withContext

/** The trained model at a record: `values` is the caller's to keep. */
class Model(val record: Long, val values: FloatArray)

/**
 * A device with suspending functions. It is made by [open] and used for one
 * stretch: cancel [run] or [runFor], or [close] it, and it is finished.
 *
 * Cancellation stops the native library and waits for it, so the state on disk is
 * free for the next client when the canceled coroutine has been joined.
 */
class ZoflClient private constructor(private val news: News, private val device: Device) : AutoCloseable {
    /** The latest state, round and loss. */
    val progress: StateFlow<Progress> = news.progress

    /** Whether the coordinator has ended the run. */
    val ended: Boolean get() = device.ended
    val dim: Int get() = device.dim

    /** The state now; [progress] may tell of it a moment later. */
    val state: DeviceState get() = device.state

    /** Trains until the run ends. Throws [ZoflException] for what no waiting cures. */
    suspend fun run() = blocking { device.run() }

    /** Trains for [budget] at most and returns with its state on disk. */
    suspend fun runFor(budget: Duration) = blocking { device.runFor(budget.inWholeMilliseconds) }

    /** Reads what is kept on disk, so that [params] works without a connection. */
    suspend fun load() = blocking { device.load() }

    private suspend fun blocking(call: () -> Unit) =
        try {
            onOwnThread("zofl", interrupt = device::stop) { translate(call) }
        } finally {
            news.traffic(device.traffic)
        }

    /** The model now, or null before the first record was applied. */
    fun params(): Model? = translate {
        val bytes = ByteArray(4 * device.dim)
        val record = device.params(bytes)
        if (record == 0L) return@translate null
        val values = FloatArray(device.dim)
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(values)
        Model(record, values)
    }

    /** The model's digest in hexadecimal, which all devices share at a record; null before the first. */
    fun digest(): String? = translate {
        val bytes = ByteArray(32)
        if (device.digest(bytes) == 0L) null else bytes.joinToString("") { "%02x".format(it) }
    }

    fun setNetwork(connected: Boolean, metered: Boolean) = device.setNetwork(connected, metered)

    fun setPower(charging: Boolean, percent: Int) = device.setPower(charging, percent)

    fun reconnect() = device.reconnect()

    /** Finishes the client without waiting; a [run] in course returns soon. */
    override fun close() = device.stop()

    companion object {
        /**
         * Makes a client on a thread of its own: it may read the disk. [credentials]
         * is the text of a creds file or an nkey seed.
         */
        suspend fun open(opener: DeviceOpener, config: DeviceConfig, credentials: String?, loss: Loss): ZoflClient =
            open(opener, config, credentials, loss, null)

        /** The same, with what measures the model; null for nothing. */
        suspend fun open(
            opener: DeviceOpener, config: DeviceConfig, credentials: String?, loss: Loss, evaluator: Evaluator?,
        ): ZoflClient {
            val news = News()
            val device = withContext(NonCancellable) {
                onOwnThread("zofl-open", interrupt = {}) {
                    translate { opener.open(config, credentials, loss, evaluator, news) }
                }
            }
            news.source = device
            return ZoflClient(news, device).also {
                try {
                    currentCoroutineContext().ensureActive()
                } catch (e: Throwable) {
                    it.close() // nobody will have it
                    throw e
                }
            }
        }
    }
}

/** What the native library tells, as the latest state of it. */
private class News : DeviceListener {
    private val latest = MutableStateFlow(Progress())
    val progress = latest.asStateFlow()

    @Volatile
    var source: Device? = null

    override fun onState(state: DeviceState, reason: String) =
        latest.update { it.copy(state = state, reason = reason, fault = it.fault.unlessCured(state)) }

    override fun onProgress(record: Long, last: Long, round: Long, contributions: Long, loss: Double) {
        val traffic = source?.traffic ?: Traffic()
        latest.update {
            it.copy(
                record = record, last = last, round = round, contributions = contributions,
                loss = loss.takeUnless(Double::isNaN), traffic = traffic,
                // What went wrong before is history as soon as a round went right.
                fault = it.fault.takeUnless { _ -> contributions > it.contributions },
            )
        }
    }

    /** A server that could not be reached, or did not let this device in, has done so if the device is past it. */
    private fun ZoflException?.unlessCured(state: DeviceState) =
        takeUnless { (it is ZoflException.Connection || it is ZoflException.Access) && state in served }

    override fun onFault(code: String, message: String) =
        latest.update { it.copy(fault = ZoflException.of(code, message)) }

    fun traffic(now: Traffic) = latest.update { it.copy(traffic = now) }
}

/** States that a device has only with server and coordinator. */
private val served =
    setOf(DeviceState.CATCHING_UP, DeviceState.WAITING, DeviceState.WORKING, DeviceState.PAUSED, DeviceState.ENDED)

/** Gives every error of the native library its class. */
private inline fun <T> translate(call: () -> T): T =
    try {
        call()
    } catch (e: Exception) {
        throw ZoflException.of(e)
    }
