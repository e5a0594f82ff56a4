package org.zofl.android

import java.io.IOException
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.util.concurrent.CountDownLatch
import java.util.concurrent.LinkedBlockingQueue

/** A device without native code. [run] blocks as Go does: interruption does not end it. */
class FakeDevice(override val dim: Int = 2) : Device {
    val calls = LinkedBlockingQueue<String>()
    val running = CountDownLatch(1)
    private val stopped = CountDownLatch(1)

    /** Lets a stopped run linger until somebody releases it. */
    val lingering = CountDownLatch(1)
    var lingers = false

    /** What run throws; null to return normally. */
    var error: Exception? = null

    /** Whether run returns by itself, as at the end of a run or budget. */
    var returns = false

    @Volatile
    var returned = false
    var values = FloatArray(0)
    var record = 0L
    lateinit var callbacks: Callbacks
    val listener get() = callbacks.listener

    override var state = DeviceState.IDLE
    override var ended = false
    override var traffic = Traffic()
    override var segments = emptyList<Segment>()

    override fun run() = runFor(Long.MAX_VALUE)

    override fun runFor(milliseconds: Long) {
        calls.add("runFor $milliseconds on ${Thread.currentThread().name}")
        running.countDown()
        error?.let { throw it }
        if (!returns) awaitFirmly(stopped)
        if (lingers) awaitFirmly(lingering)
        returned = true
    }

    private fun awaitFirmly(latch: CountDownLatch) {
        while (true) {
            try {
                return latch.await()
            } catch (e: InterruptedException) {
                calls.add("interrupted") // native code ignores it
            }
        }
    }

    override fun load() {
        calls.add("load")
    }

    override fun stop() {
        calls.add("stop")
        stopped.countDown()
    }

    override fun reconnect() {
        calls.add("reconnect")
    }

    override fun setNetwork(connected: Boolean, metered: Boolean) {
        calls.add("network $connected $metered")
    }

    override fun setPower(charging: Boolean, percent: Int) {
        calls.add("power $charging $percent")
    }

    override fun params(into: ByteArray): Long {
        ByteBuffer.wrap(into).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().put(values)
        return record
    }

    override fun digest(into: ByteArray): Long {
        into.fill(0xab.toByte())
        return record
    }
}

/** Opens [device], and records the arguments. */
class FakeOpener(val device: FakeDevice) : DeviceOpener {
    lateinit var config: DeviceConfig
    lateinit var secrets: Secrets
    val credentials get() = secrets.credentials
    var thread = ""
    var error: Exception? = null

    override fun open(config: DeviceConfig, secrets: Secrets, callbacks: Callbacks): Device {
        error?.let { throw it }
        this.config = config
        this.secrets = secrets
        thread = Thread.currentThread().name
        device.callbacks = callbacks
        return device
    }
}

val plainConfig = DeviceConfig(
    run = "digits", device = "phone", dim = 2, servers = listOf("tls://127.0.0.1:4222"), stateDir = "",
)

/** Settings that cannot be stored once [full] is set; only this process has them. */
class FullSettings(private val memory: MemorySettings) : SettingsStore by memory {
    var full = false

    override fun update(change: (Settings) -> Settings) {
        memory.update(change)
        if (full) throw IOException("settings cannot be saved")
    }
}

suspend fun open(device: FakeDevice) = ZoflClient.open(FakeOpener(device), plainConfig, null, Loss { 0.0 })

/** Two parameters, whose loss is 0. */
class FakeTask(
    override val dim: Int = 2, private val initial: FloatArray? = null, private val runKey: ByteArray? = null,
) : Task {
    override suspend fun begin(settings: Settings) =
        Lesson(Loss { 0.0 }, samples = 7, initial = initial, runKey = runKey)

    override suspend fun measure(model: Model) = mapOf("sum" to model.values.sum().toDouble())
}
