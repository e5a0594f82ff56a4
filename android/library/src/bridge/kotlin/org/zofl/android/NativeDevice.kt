package org.zofl.android

import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.util.concurrent.atomic.AtomicReference
import zofl.mobile.Client
import zofl.mobile.Columns
import zofl.mobile.Config
import zofl.mobile.Listener
import zofl.mobile.Mobile

/**
 * The native library as a [Device]. Only this folder names the binding's classes, which apps
 * in Java use as they are. It uses nothing of Android: the tests of this repository run it
 * with the same library built for the JVM.
 */
class NativeDevice private constructor(private val client: Client) : Device {
    override val dim get() = client.dim().toInt()
    override val state get() = DeviceState.of(client.state().toInt())
    override val ended get() = client.ended()
    override val traffic get() = Traffic(client.bytesSent(), client.bytesReceived())
    override val segments get() = client.segments()
    override val scaler get() = client.scaler()?.toScaler()

    override fun run() = client.run()

    override fun runFor(milliseconds: Long) = client.runFor(milliseconds)

    override fun load() = client.load()

    override fun stop() = client.stop()

    override fun reconnect() = client.reconnect()

    override fun setNetwork(connected: Boolean, metered: Boolean) = client.setNetwork(connected, metered)

    override fun setPower(charging: Boolean, percent: Int) = client.setPower(charging, percent.toLong())

    override fun params(into: ByteArray) = client.params(into)

    override fun digest(into: ByteArray) = client.digest(into)

    companion object : DeviceOpener {
        override fun open(config: DeviceConfig, secrets: Secrets, callbacks: Callbacks): Device {
            val native = Mobile.newConfig()
            secrets.line?.let(native::enroll) // before what the app sets besides
            native.take(config)
            secrets.credentials?.let(native::setCredentials)
            secrets.runKey?.let(native::setRunKey)
            val client = AtomicReference<Client>() // before the first callback
            native.take(callbacks) { client.get().segments() }
            return NativeDevice(Mobile.newClient(native).also(client::set))
        }
    }
}

/** Makes a client of the native library: see [ZoflClient]. */
suspend fun ZoflClient.Companion.open(
    config: DeviceConfig, credentials: String?, objective: Objective, evaluator: Evaluator? = null,
): ZoflClient = open(NativeDevice, config, credentials, objective, evaluator)

/** Like the other [open], for a device with a line, a run key or a say in the plan. */
suspend fun ZoflClient.Companion.open(
    config: DeviceConfig, secrets: Secrets, objective: Objective, evaluator: Evaluator? = null,
    consent: Consent? = null,
): ZoflClient = open(NativeDevice, config, secrets, objective, evaluator, consent)

private fun Config.take(config: DeviceConfig) {
    if (config.run.isNotEmpty()) run = config.run // else the line's
    if (config.device.isNotEmpty()) device = config.device
    dim = config.dim.toLong()
    stateDir = config.stateDir
    samples = config.samples.toLong()
    workers = config.workers.toLong()
    notStrict = !config.strict
    plaintext = config.plaintext
    unmeteredOnly = config.limits.unmeteredOnly
    chargingOnly = config.limits.chargingOnly
    minBattery = config.limits.minBattery.toLong()
    about = config.about
    config.servers.forEach(this::addServer)
    config.trust?.let { trust -> setTrust { trust.check(it.toServerChain()) } }
    config.ca?.let(this::setCA) // which replaces trust
    config.pins.forEach(this::addPin)
    config.initial?.let { setInitial(bytesOf(it)) }
    config.columns?.let(::columnsOf)?.let(this::setColumns)
}

private fun columnsOf(rows: Iterable<FloatArray>): Columns? {
    val first = rows.firstOrNull() ?: return null
    return Mobile.newColumns(first.size.toLong()).also { rows.forEach { row -> it.addRow(bytesOf(row)) } }
}

private fun bytesOf(values: FloatArray): ByteArray {
    val bytes = ByteBuffer.allocate(4 * values.size).order(ByteOrder.LITTLE_ENDIAN)
    bytes.asFloatBuffer().put(values)
    return bytes.array()
}

private fun Config.take(callbacks: Callbacks, segments: () -> List<Segment>) {
    when (val objective = callbacks.objective) {
        is Loss -> setBlockObjective { round -> objective.loss(NativeRound(round, segments)) }
        is BatchLoss -> setBatchObjective { probes -> objective.losses(NativeStep(probes, segments)) }
    }
    callbacks.evaluator?.let { e -> setEvaluator { e.evaluate(NativeEvaluation(it, segments)) } }
    callbacks.consent?.let { c -> setConsent { c.accept(it.toPlan()) } }
    setListener(NativeNews(callbacks.listener))
}

/** Passes news on. An empty text may arrive as null. */
private class NativeNews(private val listener: DeviceListener) : Listener {
    override fun onState(state: Long, reason: String?) =
        listener.onState(DeviceState.of(state.toInt()), reason.orEmpty())

    override fun onProgress(record: Long, last: Long, round: Long, contributions: Long, loss: Double) =
        listener.onProgress(record, last, round, contributions, loss)

    override fun onFault(code: String?, message: String?) = listener.onFault(code.orEmpty(), message.orEmpty())
}
